/** Reads the machines, sets and versions of one cluster, as they are, and computes them as they would be after a commit. */
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS, MACHINES } from '../../../api/generated/resources.ts';
import type {
  LedgerGrant,
  Machine,
  MachineComponent,
  MachineComponentSet,
} from '../../../api/generated/types.ts';
import { NAMESPACE } from '../../../api/names.ts';
import { CONTROLLER_REVISIONS } from '../../../controllers/componentset/revision/stored-revisions.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { type ObjectId, objectIdOf } from '../../../kube/objects/object-id.ts';
import type { ServerVersions } from '../../../rollout/kubelet-skew.ts';
import type { LivePreview } from '../../../sync/preview/live.ts';
import { readGrants } from '../../fleet/machine-context.ts';
import { collect } from '../../fleet/read.ts';
import { serversOf, trimNode } from '../../fleet/rollout-facts.ts';

/** The objects of rollouts that a commit may change. */
export interface RolloutObjects {
  readonly sets: readonly MachineComponentSet[];
  readonly components: readonly MachineComponent[];
  readonly machines: readonly Machine[];
}

export interface RolloutFleet extends RolloutObjects {
  /** The Nodes by name. */
  readonly nodes: ReadonlyMap<string, KubeObject>;
  /** The grants by machine. */
  readonly grants: Readonly<Record<string, LedgerGrant>>;
  /** The ControllerRevisions by name. */
  readonly revisions: ReadonlyMap<string, KubeObject>;
  readonly servers: ServerVersions;
}

type ObjectChange = Pick<LivePreview, 'written' | 'deleted'>;

export const ROLLOUT_KINDS: readonly Resource[] = [MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS, MACHINES];

export function concernsRollouts({ written, deleted }: ObjectChange): boolean {
  return [...written.map(objectIdOf), ...deleted].some(isRolloutKind);
}

function isRolloutKind(id: ObjectId): boolean {
  return ROLLOUT_KINDS.some((kind) => isOfKind(id, kind));
}

function isOfKind(id: ObjectId, { group, kind }: Resource): boolean {
  return id.group === group && id.kind === kind;
}

/** Reads the fleet. Rejects when the machines or their Nodes cannot be read. */
export async function readRolloutFleet(client: Client, signal: AbortSignal): Promise<RolloutFleet> {
  const [sets, components, machines, nodes, grants, revisions, version] = await Promise.all([
    collect(client, MACHINE_COMPONENT_SETS, { signal }, (set) => set),
    collect(client, MACHINE_COMPONENTS, { signal }, (component) => component),
    collect(client, MACHINES, { signal }, (machine) => machine),
    collect(client, NODES, { signal }, trimNode),
    readGrants(client, signal),
    readRevisions(client, signal),
    client.raw('/version', { signal }),
  ]);
  return { sets, components, machines, nodes: byName(nodes), grants, revisions, servers: serversOf(version) };
}

/** Reads the ControllerRevisions. Without them it is not known what new machines get during a rollout. */
async function readRevisions(client: Client, signal: AbortSignal): Promise<ReadonlyMap<string, KubeObject>> {
  try {
    const options = { namespace: NAMESPACE, signal };
    return byName(await collect(client, CONTROLLER_REVISIONS, options, (revision) => revision));
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return new Map();
    throw error;
  }
}

/** Returns the fleet with what the commit writes, and without what it deletes. */
export function withChange(fleet: RolloutFleet, change: ObjectChange): RolloutFleet {
  return {
    ...fleet,
    sets: changedObjects(fleet.sets, MACHINE_COMPONENT_SETS, change),
    components: changedObjects(fleet.components, MACHINE_COMPONENTS, change),
    machines: changedObjects(fleet.machines, MACHINES, change),
  };
}

function changedObjects<T extends KubeObject>(
  before: readonly T[],
  resource: Resource<T>,
  { written, deleted }: ObjectChange,
): readonly T[] {
  // The server has validated them as objects of that kind.
  const own = written.filter((object) => isOfKind(objectIdOf(object), resource)) as T[];
  const removed = new Set(deleted.filter((id) => isOfKind(id, resource)).map(({ name }) => name));
  const after = new Map([...byName(before), ...byName(own)]);
  return [...after.values()].filter(({ metadata }) => !removed.has(metadata.name));
}

function byName<T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [object.metadata.name, object]));
}
