/** Explains why an object of the owner has no Machine of kubenode, or why that one is held: something is missing, or contradicts. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { followedObject } from '../../providers/followed.ts';
import { isOwn } from './own-machine.ts';
import { type BoundObject, type FollowOwner, type OwnerMarks, type OwnerObject, ownerKey } from './owner.ts';

/** Waiting: it ends without a person. LeftOut: it is not one of this owner. */
export interface FollowObjection {
  readonly state: 'Waiting' | 'Refused' | 'LeftOut';
  readonly reason: string;
  readonly message: string;
}

/** Holds what an object of theirs is compared with. */
export interface Surroundings {
  /** Theirs with this provider ID. */
  readonly withProviderID: (id: string) => readonly OwnerObject[];
  /** Theirs with this Node. */
  readonly withNode: (name: string) => readonly OwnerObject[];
  /** The Node of this name in this cluster. */
  readonly nodeOf: (name: string) => KubeObject | undefined;
  /** Our Machine of this name. */
  readonly machineOf: (name: string) => Machine | undefined;
}

/** The limit of `metadata.name` of a Machine. */
const MAX_NAME = 63;

/** Returns the object with its instance and Node, or why it has none. */
export function boundObject<Theirs extends OwnerObject>(
  object: Theirs,
  { fields }: FollowOwner<Theirs>,
): (Theirs & BoundObject) | FollowObjection {
  const { providerID, node } = object;
  if (providerID === undefined) return waiting('NoProviderID', `it has no ${fields.providerID} yet`);
  if (node === undefined) return waiting('NoNode', `it has no ${fields.node} yet`);
  return { ...object, providerID, node };
}

/** Returns the first objection; undefined: it can be followed. */
export function objectionTo<Theirs extends OwnerObject>(
  object: Theirs & BoundObject,
  around: Surroundings,
  owner: FollowOwner<Theirs>,
): FollowObjection | undefined {
  return (
    twinObjection(object, around, owner) ??
    nodeObjection(object, around, owner) ??
    nameObjection(object, around, owner)
  );
}

function twinObjection<Theirs extends OwnerObject>(
  object: BoundObject,
  { withProviderID, withNode }: Surroundings,
  { textOf }: FollowOwner<Theirs>,
): FollowObjection | undefined {
  const twin = [...withProviderID(object.providerID), ...withNode(object.node)].find(
    (each) => ownerKey(each) !== ownerKey(object),
  );
  return twin && refused('Duplicate', `${textOf(twin)} has the same provider ID or Node`);
}

/** The Node of a machine of another cluster is there, and never appears here: this is not an error. */
function nodeObjection<Theirs extends OwnerObject>(
  object: Theirs & BoundObject,
  { nodeOf }: Surroundings,
  owner: FollowOwner<Theirs>,
): FollowObjection | undefined {
  const node = nodeOf(object.node);
  if (!node) return waiting('NodeNotFound', `Node ${object.node} is not in this cluster`);
  const id = textAt(node, 'spec', 'providerID');
  if (id === undefined) {
    return waiting('NodeWithoutProviderID', `Node ${object.node} has no spec.providerID yet`);
  }
  if (id !== object.providerID) return refused('NodeOfAnother', `Node ${object.node} is on instance ${id}`);
  const reason = owner.otherOwnerReason(object, node);
  return reason === undefined ? undefined : refused('NodeOfAnother', reason);
}

function nameObjection(
  { node, providerID }: BoundObject,
  { machineOf }: Surroundings,
  owner: OwnerMarks,
): FollowObjection | undefined {
  if (node.length > MAX_NAME) {
    return refused('NameTooLong', `the name of a Machine has at most ${MAX_NAME} characters: ${node}`);
  }
  const taken = machineOf(node);
  if (!taken) return undefined;
  if (!isOwn(taken, owner)) {
    return refused('NameTaken', `Machine ${node} of kubenode exists, and is not of this controller`);
  }
  const isSame = followedObject(taken)?.providerID === providerID;
  if (isSame && taken.metadata.deletionTimestamp === undefined) return undefined;
  return waiting('Replacing', `Machine ${node} of kubenode is for another instance, or is being deleted`);
}

function waiting(reason: string, message: string): FollowObjection {
  return { state: 'Waiting', reason, message };
}

function refused(reason: string, message: string): FollowObjection {
  return { state: 'Refused', reason, message };
}
