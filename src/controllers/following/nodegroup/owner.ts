/** The node groups of cluster-autoscaler and of clouds as the owners of Nodes that are followed. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { MANAGER_NODEGROUP } from '../../../api/names.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { isOwn } from '../own-machine.ts';
import type { FollowOwner, OwnerHold, OwnerObject } from '../owner.ts';
import { type GroupNode, TAINT_TO_BE_DELETED } from './contract.ts';

const MARKS = { provider: 'external', manager: MANAGER_NODEGROUP } as const;

export const NODE_GROUP_OWNER: FollowOwner<GroupNode> = {
  ...MARKS,
  logRead: (log, because) => {
    if (because === undefined) log.info('nodes of node groups are read');
    else log.warn('nodes of node groups are not read', { because });
  },
  fields: { providerID: 'spec.providerID', node: 'metadata.name' },
  config: { kind: NODES.kind },
  textOf: nodeText,
  otherOwnerReason: () => undefined,
  leftOutReason: (node, machineOf) => node.leftOut ?? machineReason(node, machineOf(node.name)),
  holdOf,
};

function nodeText({ name }: Pick<OwnerObject, 'name'>): string {
  return `Node ${name} of a node group`;
}

/** A Node that has a Machine already is that of a set, of an import, or of another owner. One that a person wrote alike is reported instead. */
function machineReason({ name }: GroupNode, machine: Machine | undefined): OwnerHold | undefined {
  if (!machine || isOwn(machine, MARKS)) return undefined;
  const { provider, config } = machine.spec.infra;
  if (provider === MARKS.provider && textAt(config, 'kind') === NODES.kind) return undefined;
  return { reason: 'HasMachine', message: `Machine ${name} of kubenode exists, of provider ${provider}` };
}

/** A candidate of a scale-down still serves, and `scale-down-disabled` forbids only the scale-down: neither holds. */
function holdOf({ name, isDeleting, isToBeDeleted }: GroupNode): OwnerHold | undefined {
  if (isDeleting) return { reason: 'NodeDeleting', message: `Node ${name} is being deleted` };
  if (!isToBeDeleted) return undefined;
  return { reason: 'NodeToBeDeleted', message: `Node ${name} has the taint ${TAINT_TO_BE_DELETED}` };
}
