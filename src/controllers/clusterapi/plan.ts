/**
 * Decides what follows from the Machines of Cluster API: which of our Machines are created, changed and deleted, and which of theirs cannot be
 * followed. Our Machine is deleted only if this controller wrote it, and only when Cluster API has no Machine for its instance. Pure.
 */
import type { Machine } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type FollowedObject, followedObject } from '../../providers/followed.ts';
import type { ForeignCluster, ForeignMachine } from './contract.ts';
import { machineText, type OwnerHold, ownerHoldOf } from './hold.ts';
import {
  type BoundMachine,
  boundMachine,
  type FollowObjection,
  objectionTo,
  type Surroundings,
} from './objection.ts';
import { differences, type FollowedMachine, isOwn, labelsOfTheirs, ownLabels } from './own-machine.ts';

export interface ForeignObjects {
  readonly machines: readonly ForeignMachine[];
  readonly clusters: readonly ForeignCluster[];
}

export interface FollowInput {
  /** `unreadable` explains why nothing is known of them. */
  readonly theirs: ForeignObjects | { readonly unreadable: string };
  /** All our Machines. */
  readonly machines: readonly Machine[];
  /** The Node of this name in this cluster. */
  readonly nodeOf: (name: string) => KubeObject | undefined;
}

export type FollowAction = { readonly because: string } & (
  | { readonly type: 'Create' | 'Update'; readonly desired: FollowedMachine }
  | { readonly type: 'Delete'; readonly machine: Machine }
);

/** A Machine of theirs that is not followed now. */
export interface Unfollowed extends FollowObjection {
  readonly machine: string;
}

export interface FollowPlan {
  readonly actions: readonly FollowAction[];
  readonly unfollowed: readonly Unfollowed[];
}

const MAX_ZONE = 63;
/** A condition shows it, together with what it is. */
const MAX_HOLD = 512;

export function planFollow(input: FollowInput): FollowPlan {
  const { theirs, machines } = input;
  const own = machines.filter(isOwn).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const sorted = own.toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  if ('unreadable' in theirs) {
    const hold = { reason: 'NotObserved', message: theirs.unreadable };
    return { actions: sorted.flatMap((machine) => held(machine, hold)), unfollowed: [] };
  }
  const around = surroundings(theirs, input);
  const judged = judgeAll(theirs, around);
  const byID = Map.groupBy(judged, ({ providerID }) => providerID);
  return {
    actions: [
      ...sorted.flatMap((machine) => planOwn(machine, (id) => byID.get(id) ?? [])),
      ...judged.flatMap(({ desired }) => (desired ? planWrite(desired, around) : [])),
    ],
    unfollowed: judged.flatMap(({ key, objection }) => (objection ? { machine: key, ...objection } : [])),
  };
}

function surroundings({ machines }: ForeignObjects, input: FollowInput): Surroundings {
  const own = new Map(input.machines.map((machine) => [machine.metadata.name, machine]));
  const byID = Map.groupBy(machines, ({ providerID }) => providerID);
  const byNode = Map.groupBy(machines, ({ node }) => node);
  return {
    withProviderID: (id) => byID.get(id) ?? [],
    withNode: (name) => byNode.get(name) ?? [],
    nodeOf: input.nodeOf,
    machineOf: (name) => own.get(name),
  };
}

interface Judged {
  readonly key: string;
  readonly providerID: string | undefined;
  readonly desired?: FollowedMachine;
  readonly objection?: FollowObjection;
}

function judgeAll({ machines, clusters }: ForeignObjects, around: Surroundings): readonly Judged[] {
  const known = new Map(clusters.map((cluster) => [`${cluster.namespace}/${cluster.name}`, cluster]));
  return machines
    .map((machine) => judge(machine, known.get(`${machine.namespace}/${machine.cluster}`), around))
    .toSorted((a, b) => byCode(a.key, b.key));
}

function judge(machine: ForeignMachine, cluster: ForeignCluster | undefined, around: Surroundings): Judged {
  const head = { key: `${machine.namespace}/${machine.name}`, providerID: machine.providerID };
  const bound = boundMachine(machine);
  if ('state' in bound) return { ...head, objection: bound };
  const objection = objectionTo(bound, around);
  return objection ? { ...head, objection } : { ...head, desired: desiredMachine(bound, cluster) };
}

function desiredMachine(machine: BoundMachine, cluster: ForeignCluster | undefined): FollowedMachine {
  const { namespace, name, providerID, node, zone = '', labels } = machine;
  const hold = ownerHoldOf(machine, cluster);
  return {
    name: node,
    object: { namespace, name, providerID },
    zone: zone === '' || zone.length > MAX_ZONE ? undefined : zone,
    labels: labelsOfTheirs(labels),
    hold: hold && holdText(hold),
  };
}

function planWrite(desired: FollowedMachine, { machineOf }: Surroundings): readonly FollowAction[] {
  const text = machineText(desired.object);
  const before = machineOf(desired.name);
  if (!before) return [{ type: 'Create', desired, because: `${text} has Node ${desired.name}` }];
  const changed = differences(desired, before);
  return changed.length === 0
    ? []
    : [{ type: 'Update', desired, because: `${text}: ${changed.join(', ')} changed` }];
}

/** Plans our machine whose counterpart is missing, or cannot be followed now. */
function planOwn(machine: Machine, judgedFor: (id: string) => readonly Judged[]): readonly FollowAction[] {
  const object = followedObject(machine);
  // Without a config that can be read it is not known which machine it follows: it stays.
  if (!object) return [];
  const theirs = judgedFor(object.providerID);
  const [first] = theirs;
  if (!first) return deletion(machine, `${machineText(object)} was not found`);
  const desired = theirs.find((each) => each.desired)?.desired;
  if (!desired) return first.objection ? held(machine, first.objection) : [];
  return desired.name === machine.metadata.name
    ? []
    : deletion(machine, `the Node of ${machineText(object)} is ${desired.name}`);
}

function deletion(machine: Machine, because: string): readonly FollowAction[] {
  return [{ type: 'Delete', machine, because }];
}

/** Nothing else of the machine changes. */
function held(machine: Machine, hold: OwnerHold): readonly FollowAction[] {
  const object: FollowedObject | undefined = followedObject(machine);
  if (!object) return [];
  const { name } = machine.metadata;
  const text = holdText(hold);
  const desired = { name, object, zone: machine.spec.zone, labels: ownLabels(machine), hold: text };
  return differences(desired, machine).length === 0 ? [] : [{ type: 'Update', desired, because: text }];
}

function holdText({ reason, message }: OwnerHold): string {
  return `${reason}: ${message}`.slice(0, MAX_HOLD);
}
