/**
 * Decides what follows from the objects of another system, such as the Machines of Cluster API: which of our Machines are created, changed and
 * deleted, and which of theirs cannot be followed. Our Machine is deleted only if its controller wrote it, and only when the owner has no
 * object for its instance. Pure.
 */
import type { Machine } from '../../api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP } from '../../api/names.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type FollowedObject, followedObject } from '../../providers/followed.ts';
import { boundObject, type FollowObjection, objectionTo, type Surroundings } from './objection.ts';
import { differences, type FollowedMachine, isOwn, labelsOfTheirs, ownLabels } from './own-machine.ts';
import {
  type BoundObject,
  type FollowOwner,
  isUnreadable,
  type OwnerHold,
  type OwnerObject,
  ownerKey,
  type Unreadable,
} from './owner.ts';

export interface FollowInput<Theirs extends OwnerObject> {
  readonly theirs: readonly Theirs[] | Unreadable;
  /** All our Machines. */
  readonly machines: readonly Machine[];
  /** The Node of this name in this cluster. */
  readonly nodeOf: (name: string) => KubeObject | undefined;
}

export type FollowAction = { readonly because: string } & (
  | { readonly type: 'Create' | 'Update'; readonly desired: FollowedMachine }
  | { readonly type: 'Delete'; readonly machine: Machine }
);

/** An object of theirs that is not followed now. */
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

export function planFollow<Theirs extends OwnerObject>(
  input: FollowInput<Theirs>,
  owner: FollowOwner<Theirs>,
): FollowPlan {
  const { theirs, machines } = input;
  const own = machines
    .filter((machine) => isOwn(machine, owner))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const sorted = own.toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  if (isUnreadable(theirs)) {
    const hold = { reason: 'NotObserved', message: theirs.unreadable };
    return { actions: sorted.flatMap((machine) => held(machine, hold, owner)), unfollowed: [] };
  }
  const around = surroundings(theirs, input);
  const judged = theirs
    .map((object) => judge(object, around, owner))
    .toSorted((a, b) => byCode(a.key, b.key));
  const byID = Map.groupBy(judged, ({ providerID }) => providerID);
  // On which instance these are is unknown, also whether it is that of our Machine.
  const unknown = Map.groupBy(byID.get(undefined) ?? [], ({ node }) => node);
  const judgedFor = (id: string, node: string): readonly Judged[] => byID.get(id) ?? unknown.get(node) ?? [];
  return {
    actions: [
      ...sorted.flatMap((machine) => planOwn(machine, judgedFor, owner)),
      ...judged.flatMap(({ desired }) => (desired ? planWrite(desired, around, owner) : [])),
    ],
    unfollowed: judged.flatMap(({ key, objection }) => (objection ? { machine: key, ...objection } : [])),
  };
}

function surroundings<Theirs extends OwnerObject>(
  theirs: readonly Theirs[],
  input: FollowInput<Theirs>,
): Surroundings {
  const own = new Map(input.machines.map((machine) => [machine.metadata.name, machine]));
  const byID = Map.groupBy(theirs, ({ providerID }) => providerID);
  const byNode = Map.groupBy(theirs, ({ node }) => node);
  return {
    withProviderID: (id) => byID.get(id) ?? [],
    withNode: (name) => byNode.get(name) ?? [],
    nodeOf: input.nodeOf,
    machineOf: (name) => own.get(name),
  };
}

interface Judged {
  readonly key: string;
  readonly node: string | undefined;
  readonly providerID: string | undefined;
  readonly desired?: FollowedMachine;
  readonly objection?: FollowObjection;
}

function judge<Theirs extends OwnerObject>(
  object: Theirs,
  around: Surroundings,
  owner: FollowOwner<Theirs>,
): Judged {
  const { providerID, node } = object;
  const head = { key: ownerKey(object), providerID, node };
  const leftOut = owner.leftOutReason?.(object, around.machineOf);
  if (leftOut) return { ...head, objection: { state: 'LeftOut', ...leftOut } };
  const bound = boundObject(object, owner);
  if ('state' in bound) return { ...head, objection: bound };
  const objection = objectionTo(bound, around, owner);
  return objection ? { ...head, objection } : { ...head, desired: desiredMachine(bound, around, owner) };
}

function desiredMachine<Theirs extends OwnerObject>(
  object: Theirs & BoundObject,
  { nodeOf, machineOf }: Surroundings,
  owner: FollowOwner<Theirs>,
): FollowedMachine {
  const { namespace, name, providerID, node, zone = '', labels } = object;
  const hold = owner.holdOf(object, nodeOf(node));
  return {
    name: node,
    object: { ...owner.config, ...optional('namespace', namespace), name, providerID },
    zone: zone === '' || zone.length > MAX_ZONE ? undefined : zone,
    labels: labelsOfTheirs(labels),
    hold: hold && holdText(hold),
    bootstrap: owner.bootstrapOf?.(object, bootstrapIn(machineOf(node))),
  };
}

function bootstrapIn(machine: Machine | undefined): string | undefined {
  return machine?.metadata.annotations?.[ANNOTATION_BOOTSTRAP];
}

type OwnerWords = Pick<FollowOwner<OwnerObject>, 'provider' | 'manager' | 'textOf' | 'keptReason'>;

function planWrite(
  desired: FollowedMachine,
  { machineOf }: Surroundings,
  owner: OwnerWords,
): readonly FollowAction[] {
  const text = owner.textOf(desired.object);
  const before = machineOf(desired.name);
  const { providerID } = desired.object;
  if (!before) return [{ type: 'Create', desired, because: `${text} is on instance ${providerID}` }];
  const changed = differences(desired, before, owner);
  return changed.length === 0
    ? []
    : [{ type: 'Update', desired, because: `${text}: ${changed.join(', ')} changed` }];
}

/** Plans our machine whose counterpart is missing, or cannot be followed now. */
function planOwn(
  machine: Machine,
  judgedFor: (id: string, node: string) => readonly Judged[],
  owner: OwnerWords,
): readonly FollowAction[] {
  const object = followedObject(machine);
  // Without a config that can be read it is not known which machine it follows: it stays.
  if (!object) return [];
  const theirs = judgedFor(object.providerID, machine.metadata.name);
  const [first] = theirs;
  if (!first) return planMissing(machine, `${owner.textOf(object)} was not found`, owner);
  const desired = theirs.find((each) => each.desired)?.desired;
  if (!desired) return first.objection ? held(machine, first.objection, owner) : [];
  return desired.name === machine.metadata.name
    ? []
    : deletion(machine, `the Node of ${owner.textOf(object)} is ${desired.name}`);
}

function planMissing(machine: Machine, because: string, owner: OwnerWords): readonly FollowAction[] {
  const kept = owner.keptReason?.(machine);
  return kept ? held(machine, kept, owner) : deletion(machine, because);
}

function deletion(machine: Machine, because: string): readonly FollowAction[] {
  return [{ type: 'Delete', machine, because }];
}

/** Nothing else of the machine changes. */
function held(machine: Machine, hold: OwnerHold, owner: OwnerWords): readonly FollowAction[] {
  const object: FollowedObject | undefined = followedObject(machine);
  if (!object) return [];
  const { name } = machine.metadata;
  const text = holdText(hold);
  const desired = {
    name,
    object,
    zone: machine.spec.zone,
    labels: ownLabels(machine, owner),
    hold: text,
    bootstrap: bootstrapIn(machine),
  };
  return differences(desired, machine, owner).length === 0
    ? []
    : [{ type: 'Update', desired, because: text }];
}

function holdText({ reason, message }: OwnerHold): string {
  return `${reason}: ${message}`.slice(0, MAX_HOLD);
}
