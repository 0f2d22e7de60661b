/** Explains why a Machine of Cluster API has none of kubenode, or why that one is held: something is missing, or contradicts. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { followedObject } from '../../providers/followed.ts';
import { ANNOTATION_NODE_MACHINE, ANNOTATION_NODE_NAMESPACE, type ForeignMachine } from './contract.ts';
import { machineText } from './hold.ts';
import { isOwn } from './own-machine.ts';

/** Waiting: it ends without a person. */
export interface FollowObjection {
  readonly state: 'Waiting' | 'Refused';
  readonly reason: string;
  readonly message: string;
}

/** Holds what a Machine of theirs is compared with. */
export interface Surroundings {
  /** Theirs with this provider ID. */
  readonly withProviderID: (id: string) => readonly ForeignMachine[];
  /** Theirs with this Node. */
  readonly withNode: (name: string) => readonly ForeignMachine[];
  /** The Node of this name in this cluster. */
  readonly nodeOf: (name: string) => KubeObject | undefined;
  /** Our Machine of this name. */
  readonly machineOf: (name: string) => Machine | undefined;
}

/** A Machine of theirs that is about an instance and a Node. */
export interface BoundMachine extends ForeignMachine {
  readonly providerID: string;
  readonly node: string;
}

/** The limit of `metadata.name` of a Machine. */
const MAX_NAME = 63;

/** Returns the machine with its instance and Node, or why it has none. */
export function boundMachine(machine: ForeignMachine): BoundMachine | FollowObjection {
  const { providerID, node } = machine;
  if (providerID === undefined) return waiting('NoProviderID', 'it has no spec.providerID yet');
  if (node === undefined) return waiting('NoNode', 'it has no status.nodeRef yet');
  return { ...machine, providerID, node };
}

/** Returns the first objection; undefined: it can be followed. */
export function objectionTo(machine: BoundMachine, around: Surroundings): FollowObjection | undefined {
  return twinObjection(machine, around) ?? nodeObjection(machine, around) ?? nameObjection(machine, around);
}

function twinObjection(
  machine: BoundMachine,
  { withProviderID, withNode }: Surroundings,
): FollowObjection | undefined {
  const twin = [...withProviderID(machine.providerID), ...withNode(machine.node)].find(
    ({ namespace, name }) => namespace !== machine.namespace || name !== machine.name,
  );
  return twin && refused('Duplicate', `${machineText(twin)} has the same provider ID or Node`);
}

/** The Node of a machine of another cluster is there, and never appears here: this is not an error. */
function nodeObjection(machine: BoundMachine, { nodeOf }: Surroundings): FollowObjection | undefined {
  const node = nodeOf(machine.node);
  if (!node) return waiting('NodeNotFound', `Node ${machine.node} is not in this cluster`);
  const id = textAt(node, 'spec', 'providerID');
  if (id === undefined) {
    return waiting('NodeWithoutProviderID', `Node ${machine.node} has no spec.providerID yet`);
  }
  if (id !== machine.providerID) return refused('NodeOfAnother', `Node ${machine.node} is on instance ${id}`);
  return ownerObjection(machine, node);
}

/** Clusters may have Nodes of one name, and providers that number their instances may give one id in each. */
function ownerObjection(
  { name, namespace, node }: BoundMachine,
  { metadata: { annotations = {} } }: KubeObject,
): FollowObjection | undefined {
  const owner = `${annotations[ANNOTATION_NODE_NAMESPACE] ?? namespace}/${annotations[ANNOTATION_NODE_MACHINE] ?? name}`;
  if (owner === `${namespace}/${name}`) return undefined;
  return refused('NodeOfAnother', `Node ${node} belongs to Machine ${owner} of Cluster API`);
}

function nameObjection(
  { node, providerID }: BoundMachine,
  { machineOf }: Surroundings,
): FollowObjection | undefined {
  if (node.length > MAX_NAME) {
    return refused('NameTooLong', `the name of a Machine has at most ${MAX_NAME} characters: ${node}`);
  }
  const taken = machineOf(node);
  if (!taken) return undefined;
  if (!isOwn(taken)) {
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
