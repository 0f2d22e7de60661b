/** Decides how Cluster API carries a change of a MachineDeployment out: in place, by the same answer as the update extension, or by replacement. Pure. */
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import { isRecord, textAt, valueAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { planCover, type UpdateFacts } from './plan.ts';
import { templateIn } from './protocol.ts';

/** Whether an extension for updates in place is registered. Unknown: it was not read, for this reason. */
export type ExtensionState =
  | { readonly state: 'Registered' | 'Missing' }
  | { readonly state: 'Unknown'; readonly because: string };

/** InPlace: no machine is replaced. Wait: Cluster API asks again, and replaces nothing until then. */
export interface DeploymentDecision {
  readonly type: 'InPlace' | 'Replace' | 'Wait';
  readonly because: string;
}

/** A change of one of these fields of the template begins a rollout in Cluster API 1.14. Others reach the machines without one. */
const ROLLOUT_FIELDS = ['version', 'bootstrap', 'infrastructureRef', 'failureDomain'] as const;

/** Undefined: no rollout begins. */
export function planDeployment(
  { before, after }: { readonly before: KubeObject; readonly after: KubeObject },
  facts: UpdateFacts,
  extension: ExtensionState,
): DeploymentDecision | undefined {
  const changed = ROLLOUT_FIELDS.filter((field) => rolloutText(before, field) !== rolloutText(after, field));
  if (changed.length === 0) return undefined;
  const others = changed.filter((field) => field !== 'version');
  if (others.length > 0) {
    return {
      type: 'Replace',
      because: `no component covers ${others.map((field) => `spec.${field}`).join(', ')}`,
    };
  }
  if (isOnDelete(after)) {
    return {
      type: 'Replace',
      because: 'its strategy is OnDelete: a machine is replaced when somebody deletes it',
    };
  }
  if (extension.state === 'Missing') {
    return { type: 'Replace', because: 'no ExtensionConfig for updates in place is registered' };
  }
  return withExtension(coverDecision(before, after, facts), extension);
}

/** The extension is asked about MachineSets, which have the selector and the template of their MachineDeployment. */
function coverDecision(before: KubeObject, after: KubeObject, facts: UpdateFacts): DeploymentDecision {
  const [current, desired] = [templateIn(before), templateIn(after)];
  if (!current || !desired) return { type: 'Replace', because: 'it has no name and namespace' };
  const { type, because } = planCover({ current, desired }, facts);
  if (type === 'Covered') return { type: 'InPlace', because };
  return { type: type === 'Undecided' ? 'Wait' : 'Replace', because };
}

function withExtension(decision: DeploymentDecision, extension: ExtensionState): DeploymentDecision {
  if (extension.state !== 'Unknown' || decision.type !== 'InPlace') return decision;
  return {
    ...decision,
    because: `${decision.because}, if the extension is registered: ${extension.because}`,
  };
}

/** The version of a reference is left out, as Cluster API leaves it out. */
function rolloutText(object: KubeObject, field: (typeof ROLLOUT_FIELDS)[number]): string {
  return canonicalJson(withoutVersions(valueAt(object, 'spec', 'template', 'spec', field) ?? null));
}

function withoutVersions(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== 'apiVersion');
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutVersions(each)]));
}

function isOnDelete(object: KubeObject): boolean {
  const types = [
    textAt(object, 'spec', 'rollout', 'strategy', 'type'),
    // v1beta1
    textAt(object, 'spec', 'strategy', 'type'),
  ];
  return types.includes('OnDelete');
}
