/** Reads what the reasons of machines are computed from, once and trimmed: bounded even for 10,000 machines. */
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS } from '../../api/generated/resources.ts';
import type {
  LedgerGrant,
  MachineComponent,
  MachineComponentSet,
  MachineComponentSpec,
} from '../../api/generated/types.ts';
import { ANNOTATION_HOLD } from '../../api/names.ts';
import { type CompatRule, createCompatRule } from '../../controllers/componentset/compat/rule.ts';
import { type ClassOf, createClassOf } from '../../controllers/componentset/observe/classes.ts';
import { createFindVersion } from '../../controllers/componentset/observe/component-versions.ts';
import type { FindInstalled } from '../../controllers/componentset/revision/entry-content.ts';
import type { FindComponent } from '../../controllers/componentset/revision/resolve.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { ServerVersions } from '../../rollout/kubelet-skew.ts';
import { versionIn } from '../../rollout/server-version.ts';
import { readGrants } from './machine-context.ts';
import { collect } from './read.ts';
import { findComponentIn } from './versions.ts';

export interface SetsAndVersions {
  readonly sets: readonly MachineComponentSet[];
  readonly find: FindComponent;
  readonly findInstalled: FindInstalled;
  readonly classOf: ClassOf;
  readonly compatOf: CompatRule;
  readonly grants: Readonly<Record<string, LedgerGrant>>;
}

export async function readSetsAndVersions(client: Client, signal: AbortSignal): Promise<SetsAndVersions> {
  const [sets, components, grants] = await Promise.all([
    collect(client, MACHINE_COMPONENT_SETS, { signal }, (set) => set),
    collect(client, MACHINE_COMPONENTS, { signal }, (component) => component),
    readGrants(client, signal),
  ]);
  const get = findComponentIn(components);
  const find = createFindVersion({ get });
  const specOf = (componentRef: string): MachineComponentSpec | undefined => get(componentRef)?.spec;
  const compatOf = createCompatRule(await readServers(client, components, signal), specOf);
  return { sets, find, findInstalled: get, classOf: createClassOf(get), compatOf, grants };
}

/** Asks the API server that the command is connected to, if a component is compared with its version. */
async function readServers(
  client: Client,
  components: readonly MachineComponent[],
  signal: AbortSignal,
): Promise<ServerVersions> {
  const isCompared = components.some(({ spec }) => spec.compat?.kubernetes !== undefined);
  return isCompared ? serversOf(await client.raw('/version', { signal })) : serversOf(undefined);
}

/** Returns the version of the API server. The controllers ask each API server; a command asks the one that it is connected to. */
export function serversOf(answer: unknown): ServerVersions {
  const version = versionIn(answer);
  return version === undefined
    ? { state: 'Unknown', because: 'expected gitVersion in the answer of /version' }
    : { state: 'Known', versions: [version] };
}

/** Reads the Nodes by name; empty where the person may not read Nodes. */
export async function readNodes(
  client: Client,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KubeObject>> {
  try {
    const nodes = await collect(client, NODES, { signal }, trimNode);
    return new Map(nodes.map((node) => [node.metadata.name, node]));
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return new Map();
    throw error;
  }
}

/** Trims a Node to what identity, readiness, cordons, holds, the start-up taint, domains and versions are read from. */
export function trimNode({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const hold = metadata.annotations?.[ANNOTATION_HOLD];
  const ready = listAt(rest, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Ready');
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      ...optional('uid', metadata.uid),
      ...optional('labels', metadata.labels),
      ...(hold !== undefined && { annotations: { [ANNOTATION_HOLD]: hold } }),
    },
    spec: {
      unschedulable: valueAt(rest, 'spec', 'unschedulable'),
      taints: listAt(rest, 'spec', 'taints'),
    },
    status: {
      conditions: ready === undefined ? [] : [ready],
      nodeInfo: valueAt(rest, 'status', 'nodeInfo'),
    },
  };
}
