/** Finds what the agents of a cluster do not permit to the rules that a commit renders for it. Reads, and writes nothing. */

import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine, NodeRemedier } from '../../api/generated/types.ts';
import { neededPermits } from '../../api/steps/permits.ts';
import { validate } from '../../api/validation/validate.ts';
import { unpermittedSteps, unpermittedText } from '../../controllers/remedy/permits.ts';
import { isTarget, labelsOf } from '../../controllers/remedy/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { RenderedTarget } from '../../sync/rendered.ts';
import { collect } from '../fleet/read.ts';
import type { PlanPorts } from './ports.ts';

/** Returns the warnings about one cluster. A plan whose machines cannot be read is shown without these warnings. */
export async function livePermitWarnings(
  client: Client,
  { target, units }: RenderedTarget,
  { signal, explain }: Pick<PlanPorts, 'signal' | 'explain'>,
): Promise<readonly string[]> {
  const rules = units.flatMap(({ objects }) => objects.flatMap(({ object }) => ruleIn(object)));
  if (rules.length === 0) return [];
  try {
    const [machines, nodes] = await Promise.all([
      collect(client, MACHINES, { signal }, (machine) => machine),
      collect(client, NODES, { signal }, labelled),
    ]);
    return rules
      .flatMap((rule) => unpermittedLines(rule, { machines, nodes }))
      .map((line) => `${target}: ${line}`);
  } catch (error) {
    return [`${target}: what its agents permit is not known: ${explain(error)}`];
  }
}

/** Returns a line for each step that agents do not permit. Exported for its test. */
export function unpermittedLines(
  rule: NodeRemedier,
  { machines, nodes }: { readonly machines: readonly Machine[]; readonly nodes: readonly KubeObject[] },
): readonly string[] {
  const nodesByName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const targets = machines.filter((machine) =>
    isTarget(rule, labelsOf(machine, nodesByName.get(machine.metadata.name))),
  );
  return unpermittedSteps(rule, targets).map(
    (step) => `NodeRemedier ${rule.metadata.name}: ${unpermittedText(step)}`,
  );
}

/** Returns a Node with nothing but its name and labels: Nodes are large, and only their labels count. */
function labelled({ apiVersion, kind, metadata: { name, labels = {} } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, labels } };
}

/** Returns the rule in the object, if it is one that is valid. One that the schema refuses is a refusal of the plan already. */
function ruleIn(object: KubeObject): readonly NodeRemedier[] {
  if (object.kind !== 'NodeRemedier' || validate(object).length > 0) return [];
  return neededPermits(object['spec']).length > 0 ? [object as NodeRemedier] : [];
}
