import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { MANAGER_CLUSTERAPI, MANAGER_EXTERNAL } from '../../../../src/api/names.ts';
import { groupNode } from '../../../../src/controllers/following/nodegroup/contract.ts';
import { NODE_GROUP_OWNER } from '../../../../src/controllers/following/nodegroup/owner.ts';
import { type FollowPlan, planFollow } from '../../../../src/controllers/following/plan.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { machine } from '../../../support/builders.ts';
import { explainFollow } from '../explained-plan.ts';
import { groupMachine, groupNodeObject, WORKERS } from './nodes.ts';

/** By default node-1 of the group, and no Machine of kubenode. */
interface GroupCase {
  readonly nodes?: readonly KubeObject[];
  readonly ours?: readonly Machine[];
}

const OF_1 = 'Node node-1 of a node group';
const NOT_SELECTED = 'NotSelected: Node node-1 does not have the labels group=workers';
const CLAIM = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'general-1', uid: 'u' };
const IN_CLUSTER_API = {
  'cluster.x-k8s.io/machine': 'md-1',
  'cluster.x-k8s.io/cluster-namespace': 'fleet',
};
const POOL = { group: 'workers', 'karpenter.sh/nodepool': 'general' };
const PLANE = { group: 'workers', 'node-role.kubernetes.io/control-plane': '' };

describe('what follows from the Nodes of node groups', () => {
  it.each<[string, GroupCase, readonly string[]]>([
    ['creates our Machine', {}, [`Create node-1: ${OF_1} is on instance inst://1`]],
    ['does nothing when it has what the Node has', { ours: [groupMachine(1)] }, []],
    [
      'changes labels and zone in place',
      { nodes: [groupNodeObject(1, { labels: { group: 'workers' } })], ours: [groupMachine(1)] },
      [`Update node-1: ${OF_1}: zone, labels changed`],
    ],
    [
      'waits for the provider ID',
      { nodes: [groupNodeObject(1, { providerID: '' })] },
      ['Waiting node-1 NoProviderID: it has no spec.providerID yet'],
    ],
    [
      'holds our Machine while the Node that joins again has no provider ID, and deletes none',
      { nodes: [groupNodeObject(1, { providerID: '' })], ours: [groupMachine(1)] },
      [
        'Update node-1: NoProviderID: it has no spec.providerID yet',
        'Waiting node-1 NoProviderID: it has no spec.providerID yet',
      ],
    ],
    [
      'deletes our Machine when no Node is on its instance',
      { nodes: [], ours: [groupMachine(1)] },
      [`Delete node-1: ${OF_1} was not found`],
    ],
    [
      'replaces it when the Node is on another instance now',
      { nodes: [groupNodeObject(1, { providerID: 'inst://9' })], ours: [groupMachine(1)] },
      [
        `Delete node-1: ${OF_1} was not found`,
        'Waiting node-1 Replacing: Machine node-1 of kubenode is for another instance, or is being deleted',
      ],
    ],
  ])('CAP-16 for the Nodes of node groups it %s', (_, input, expected) => {
    expect(explainFollow(planOf(input))).toEqual(expected);
  });

  it.each<[string, GroupCase, readonly string[]]>([
    [
      'leaves out a Node without the labels',
      { nodes: [groupNodeObject(1, { labels: {} })] },
      [`LeftOut node-1 ${NOT_SELECTED}`],
    ],
    [
      'keeps and holds the Machine of a Node whose labels were removed',
      { nodes: [groupNodeObject(1, { labels: {} })], ours: [groupMachine(1)] },
      [`Update node-1: ${NOT_SELECTED}`, `LeftOut node-1 ${NOT_SELECTED}`],
    ],
    [
      'leaves out a Node of the control plane',
      { nodes: [groupNodeObject(1, { labels: PLANE })] },
      ['LeftOut node-1 ControlPlane: Node node-1 is of the control plane'],
    ],
    [
      'leaves out a Node of a NodePool',
      { nodes: [groupNodeObject(1, { labels: POOL })] },
      ['LeftOut node-1 NodeOfAnother: Node node-1 belongs to Karpenter'],
    ],
    [
      'leaves out a Node that has not joined Karpenter',
      { nodes: [groupNodeObject(1, { taint: 'karpenter.sh/unregistered' })] },
      ['LeftOut node-1 NodeOfAnother: Node node-1 belongs to Karpenter'],
    ],
    [
      'leaves out a Node of a NodeClaim without a NodePool',
      { nodes: [groupNodeObject(1, { ownerReferences: [CLAIM] })] },
      ['LeftOut node-1 NodeOfAnother: Node node-1 belongs to Karpenter'],
    ],
    [
      'leaves out a Node of Cluster API',
      { nodes: [groupNodeObject(1, { annotations: IN_CLUSTER_API })] },
      ['LeftOut node-1 NodeOfAnother: Node node-1 belongs to Machine fleet/md-1 of Cluster API'],
    ],
    [
      'leaves out a Node whose Machine is of a set or an import',
      { ours: [machine('node-1')] },
      ['LeftOut node-1 HasMachine: Machine node-1 of kubenode exists, of provider local'],
    ],
    [
      'leaves out a Node whose Machine follows Karpenter',
      {
        ours: [
          groupMachine(1, {
            manager: MANAGER_EXTERNAL,
            config: { kind: 'NodeClaim', name: 'general-1', providerID: 'inst://1' },
          }),
        ],
      },
      ['LeftOut node-1 HasMachine: Machine node-1 of kubenode exists, of provider external'],
    ],
    [
      'reports a Machine that a person wrote alike',
      { ours: [groupMachine(1, { manager: 'kubectl' })] },
      ['Refused node-1 NameTaken: Machine node-1 of kubenode exists, and is not of this controller'],
    ],
    [
      'follows neither of two Nodes on one instance',
      { nodes: [groupNodeObject(1), groupNodeObject(2, { providerID: 'inst://1' })] },
      [
        'Refused node-1 Duplicate: Node node-2 of a node group has the same provider ID or Node',
        `Refused node-2 Duplicate: ${OF_1} has the same provider ID or Node`,
      ],
    ],
    ['deletes no machine of a person', { nodes: [], ours: [machine('node-1')] }, []],
    [
      'deletes none that follows Cluster API or Karpenter',
      {
        nodes: [],
        ours: [
          groupMachine(1, { manager: MANAGER_CLUSTERAPI, provider: 'clusterapi' }),
          groupMachine(2, { manager: MANAGER_EXTERNAL }),
        ],
      },
      [],
    ],
    ['deletes none whose Node is unknown', { nodes: [], ours: [groupMachine(1, { config: {} })] }, []],
  ])('CAP-16 of Nodes of other owners it %s', (_, input, expected) => {
    expect(explainFollow(planOf(input))).toEqual(expected);
  });

  it.each<[string, GroupCase, string | undefined]>([
    ['permits disruption by default', {}, undefined],
    [
      'leaves a Node alone that cluster-autoscaler drains',
      { nodes: [groupNodeObject(1, { taint: 'ToBeDeletedByClusterAutoscaler' })] },
      'NodeToBeDeleted: Node node-1 has the taint ToBeDeletedByClusterAutoscaler',
    ],
    [
      'leaves a Node alone that is being deleted',
      { nodes: [groupNodeObject(1, { deletionTimestamp: '2030-01-01T11:00:00Z' })] },
      'NodeDeleting: Node node-1 is being deleted',
    ],
    [
      'works on a candidate of a scale-down, which still serves',
      { nodes: [groupNodeObject(1, { taint: 'DeletionCandidateOfClusterAutoscaler' })] },
      undefined,
    ],
    [
      'works on a Node that cluster-autoscaler must not scale down',
      {
        nodes: [
          groupNodeObject(1, {
            annotations: { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' },
          }),
        ],
      },
      undefined,
    ],
  ])('CAP-16 on a Node of a node group it %s', (_, input, expected) => {
    const [action] = planOf(input).actions;
    expect(action?.type === 'Create' && action.desired.hold).toBe(expected);
  });
});

function planOf({ nodes = [groupNodeObject(1)], ours = [] }: GroupCase): FollowPlan {
  const nodeOf = (name: string): KubeObject | undefined =>
    nodes.find(({ metadata }) => metadata.name === name);
  const theirs = nodes.map((node) => groupNode(node, WORKERS));
  return planFollow({ theirs, machines: ours, nodeOf }, NODE_GROUP_OWNER);
}
