/**
 * Decides which instances of a provider are orphans, and which of them are deleted now. An orphan has our tags, and the Machine whose UID it
 * has does not exist: the answer to its creation was lost, and it was listed only after its Machine was deleted. Pure.
 */
import type { Machine } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { isMachineUid } from '../../providers/cloud/request.ts';
import type { Instance } from '../../providers/contract.ts';
import { isOnInstance } from '../../providers/node-provider-id.ts';

export interface SweepInput {
  /** All instances of the cluster that the provider lists. */
  readonly instances: readonly Instance[];
  /** The Machines of the cluster, read from the API server after the instances were listed. */
  readonly machines: readonly Machine[];
  readonly nodes: readonly KubeObject[];
  /** The MachineSets whose storm guard is active. */
  readonly storms: ReadonlySet<string>;
  /** When an orphan was listed for the first time, by its id, in monotonic milliseconds. */
  readonly sightings: ReadonlyMap<string, number>;
  /** When the deletion of an orphan was last tried, by its id, in monotonic milliseconds. */
  readonly attempts: ReadonlyMap<string, number>;
  /** The ids of the instances whose deletion was begun and has not ended. */
  readonly begun: Pick<ReadonlySet<string>, 'has'>;
  readonly nowMs: number;
}

/** Why an orphan is not deleted now. */
export type OrphanWait =
  | 'ListedOnce'
  | 'InvalidTag'
  | 'NodeExists'
  | 'StormGuardActive'
  | 'NoMachines'
  | 'TooManyOrphans'
  | 'Queued'
  /** The Defender denies it. */
  | 'GrantDenied'
  /** The provider accepted the deletion, or its answer was lost. */
  | 'Deleting'
  | 'DeletionFailed';

export interface Orphan {
  readonly instance: Instance;
  /** Undefined: it is deleted now, if the Defender grants it. */
  readonly wait?: OrphanWait;
  /** The code of the denial or of the error of the provider. */
  readonly reason?: string;
  readonly because: string;
}

export interface SweepPlan {
  readonly orphans: readonly Orphan[];
  readonly sightings: ReadonlyMap<string, number>;
  readonly attempts: ReadonlyMap<string, number>;
}

/** A list may be stale, and a Machine may be created while it is read: both end within seconds. */
const SIGHTINGS_APART_MS = 600_000;
/** The most deletions of one sweep: what one wrong decision can cost. */
const MAX_DELETES = 5;
/** More orphans than this share of the instances show that Machines are missing, as in a cluster that was restored from a backup. */
const MAX_ORPHANS_PERCENT = 10;

const NO_MACHINE = 'the Machine with its UID does not exist';
const QUEUED: SweepWait = {
  wait: 'Queued',
  because: `one sweep deletes at most ${MAX_DELETES} instances. No action required`,
};

export function planSweep(input: SweepInput): SweepPlan {
  const known = knownInstances(input.machines);
  const orphans = input.instances.filter((each) => isOrphan(each, known)).toSorted(byAge);
  const { sightings, attempts, nowMs } = input;
  const first = new Map(orphans.map(({ id }) => [id, sightings.get(id) ?? nowMs]));
  const missing = missingMachinesReason(input, orphans.length);
  const waits = orphans.map((instance) => {
    const listedMs = nowMs - (first.get(instance.id) ?? nowMs);
    return { instance, wait: waitOf(instance, listedMs, input) ?? missing };
  });
  const ready = waits.flatMap(({ instance, wait }) => (wait ? [] : [instance.id]));
  const tried = nextDeletions(ready, input);
  return {
    orphans: waits.map(({ instance, wait }) => {
      if (wait) return { instance, ...wait };
      return tried.has(instance.id) ? { instance, because: NO_MACHINE } : { instance, ...QUEUED };
    }),
    sightings: first,
    attempts: new Map([
      ...[...attempts].filter(([id]) => first.has(id)),
      ...[...tried].map((id) => [id, nowMs] as const),
    ]),
  };
}

/** Returns the orphans to delete: those that were begun, and of the others those that were tried least recently, the oldest first. */
function nextDeletions(ready: readonly string[], { attempts, begun }: SweepInput): ReadonlySet<string> {
  const triedMs = (id: string): number => attempts.get(id) ?? -1;
  const others = ready.filter((id) => !begun.has(id)).toSorted((a, b) => triedMs(a) - triedMs(b));
  return new Set([...ready.filter((id) => begun.has(id)), ...others.slice(0, MAX_DELETES)]);
}

interface KnownInstances {
  readonly uids: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
}

function knownInstances(machines: readonly Machine[]): KnownInstances {
  return {
    uids: new Set(machines.flatMap(({ metadata }) => metadata.uid ?? [])),
    ids: new Set(machines.flatMap(({ status }) => status?.infra?.providerID ?? [])),
  };
}

/** A host that was imported or taken from a pool is never one. */
function isOrphan({ id, tags, import: host }: Instance, { uids, ids }: KnownInstances): boolean {
  return host === undefined && !uids.has(tags.machineUid) && !ids.has(id);
}

type SweepWait = Required<Pick<Orphan, 'wait' | 'because'>>;

function waitOf(instance: Instance, listedMs: number, input: SweepInput): SweepWait | undefined {
  const { machineUid, set } = instance.tags;
  if (listedMs < SIGHTINGS_APART_MS) {
    const because = `it is deleted when it is listed again ${SIGHTINGS_APART_MS / 60_000} minutes after its first sighting`;
    return { wait: 'ListedOnce', because };
  }
  if (!isMachineUid(machineUid)) {
    return { wait: 'InvalidTag', because: 'its tag is not the UID of a Machine. Delete it in the cloud' };
  }
  const node = nodeOn(instance, input);
  if (node !== undefined) {
    const because = `Node ${node} is on it. Delete that Node, or the instance in the cloud`;
    return { wait: 'NodeExists', because };
  }
  if (set === undefined || !input.storms.has(set)) return undefined;
  return { wait: 'StormGuardActive', because: `the storm guard of MachineSet ${set} is active` };
}

/** Returns the Node of the instance: by its provider ID or, without one, by the name, unless it registered after a later Machine was created. */
function nodeOn({ id, machine }: Instance, { nodes, machines }: SweepInput): string | undefined {
  const later = machines.find(({ metadata }) => metadata.name === machine);
  const found = nodes.find((node) => {
    const providerId = textAt(node, 'spec', 'providerID');
    if (providerId !== undefined && isOnInstance(id, providerId)) return true;
    return node.metadata.name === machine && !(later && isCreatedAfter(node, later));
  });
  return found?.metadata.name;
}

/** Without both times it is not known. */
function isCreatedAfter(node: KubeObject, { metadata }: Machine): boolean {
  return Date.parse(node.metadata.creationTimestamp ?? '') >= Date.parse(metadata.creationTimestamp ?? '');
}

/** Returns why nothing is deleted: Machines are missing, more likely than that their deletion left these instances. */
function missingMachinesReason({ instances, machines }: SweepInput, orphans: number): SweepWait | undefined {
  const hint = 'Restore the Machines, or delete the instances in the cloud';
  if (machines.length === 0) {
    return { wait: 'NoMachines', because: `the cluster has no Machine of this provider. ${hint}` };
  }
  const limit = Math.max(1, Math.floor((instances.length * MAX_ORPHANS_PERCENT) / 100));
  if (orphans <= limit) return undefined;
  const because = `${orphans} of ${instances.length} instances have no Machine; the limit is ${limit}. ${hint}`;
  return { wait: 'TooManyOrphans', because };
}

function byAge(a: Instance, b: Instance): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || byCode(a.id, b.id);
}
