import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { MANAGER_CLUSTERAPI } from '../../../../src/api/names.ts';
import { nodeClaim } from '../../../../src/controllers/following/karpenter/contract.ts';
import { KARPENTER } from '../../../../src/controllers/following/karpenter/owner.ts';
import { type FollowPlan, planFollow } from '../../../../src/controllers/following/plan.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { machine } from '../../../support/builders.ts';
import { explainFollow } from '../explained-plan.ts';
import { claimedNode, claimObject, following } from './claims.ts';

/** By default general-1 with its Node, and no Machine of kubenode. */
interface ClaimCase {
  readonly claims?: readonly KubeObject[];
  readonly unreadable?: string;
  readonly ours?: readonly Machine[];
  readonly nodes?: readonly KubeObject[];
}

const OF_1 = 'NodeClaim general-1 of Karpenter';
const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';

describe('what follows from the NodeClaims of Karpenter', () => {
  it.each<[string, ClaimCase, readonly string[]]>([
    ['creates our Machine', {}, [`Create node-1: ${OF_1} is on instance inst://1`]],
    ['does nothing when it has what theirs has', { ours: [following(1)] }, []],
    [
      'changes labels and zone in place',
      { claims: [claimObject(1, { labels: { pool: 'gpu' } })], ours: [following(1)] },
      [`Update node-1: ${OF_1}: zone, labels changed`],
    ],
    [
      'waits for the instance',
      { claims: [claimObject(1, { status: {} })] },
      ['Waiting general-1 NoProviderID: it has no status.providerID yet'],
    ],
    [
      'waits for the name of the Node',
      { claims: [claimObject(1, { status: { providerID: 'inst://1', nodeName: '' } })] },
      ['Waiting general-1 NoNode: it has no status.nodeName yet'],
    ],
    [
      'deletes our Machine when theirs is not found',
      { claims: [], ours: [following(1)] },
      [`Delete node-1: ${OF_1} was not found`],
    ],
  ])('CAP-11 for the NodeClaims of Karpenter it %s', (_, input, expected) => {
    expect(explainFollow(planOf(input))).toEqual(expected);
  });

  it.each<[string, ClaimCase, readonly string[]]>([
    ['deletes no machine of a person', { claims: [], ours: [machine('node-1')] }, []],
    [
      'deletes none that a person wrote alike',
      { claims: [], ours: [following(1, { manager: 'kubectl' })] },
      [],
    ],
    [
      'deletes none that follows Cluster API',
      { claims: [], ours: [following(1, { manager: MANAGER_CLUSTERAPI, provider: 'clusterapi' })] },
      [],
    ],
    [
      'takes over no Machine that follows Cluster API',
      { ours: [following(1, { manager: MANAGER_CLUSTERAPI, provider: 'clusterapi' })] },
      ['Refused general-1 NameTaken: Machine node-1 of kubenode exists, and is not of this controller'],
    ],
    ['deletes none whose NodeClaim is unknown', { claims: [], ours: [following(1, { config: {} })] }, []],
    [
      'follows no Node that is on another instance',
      { nodes: [claimedNode(1, { providerID: 'inst://9' })] },
      ['Refused general-1 NodeOfAnother: Node node-1 is on instance inst://9'],
    ],
    [
      'follows neither of two NodeClaims with one instance',
      {
        claims: [claimObject(1), claimObject(2, { status: { providerID: 'inst://1', nodeName: 'node-2' } })],
      },
      [
        'Refused general-1 Duplicate: NodeClaim general-2 of Karpenter has the same provider ID or Node',
        `Refused general-2 Duplicate: ${OF_1} has the same provider ID or Node`,
      ],
    ],
    [
      'holds its machines while theirs cannot be read, and deletes none',
      { unreadable: 'not served', ours: [following(1), machine('node-2')] },
      ['Update node-1: NotObserved: not served'],
    ],
  ])('CAP-12 for the NodeClaims of Karpenter it %s', (_, input, expected) => {
    expect(explainFollow(planOf(input))).toEqual(expected);
  });

  it.each<[string, ClaimCase, string | undefined]>([
    ['permits disruption by default', {}, undefined],
    [
      'leaves a machine alone that Karpenter deletes',
      { claims: [claimObject(1, { isDeleting: true, annotations: { [DO_NOT_DISRUPT]: 'true' } })] },
      `NodeClaimDeleting: ${OF_1} is being deleted, and its Node is drained there`,
    ],
    [
      'leaves a Node alone that Karpenter has chosen',
      { nodes: [claimedNode(1, { taint: 'karpenter.sh/disrupted' })] },
      'NodeDisrupted: Node node-1 has the taint karpenter.sh/disrupted',
    ],
    [
      'leaves a Node alone that has not joined Karpenter',
      { nodes: [claimedNode(1, { taint: 'karpenter.sh/unregistered' })] },
      'NodeUnregistered: Node node-1 has the taint karpenter.sh/unregistered',
    ],
    ['ignores other taints', { nodes: [claimedNode(1, { taint: 'gpu' })] }, undefined],
    [
      'honors the annotation of the NodeClaim',
      { claims: [claimObject(1, { annotations: { [DO_NOT_DISRUPT]: 'true' } })] },
      `DoNotDisrupt: ${OF_1} has the annotation ${DO_NOT_DISRUPT}`,
    ],
    [
      'honors the annotation of the Node, with a value that is not known',
      { nodes: [claimedNode(1, { annotations: { [DO_NOT_DISRUPT]: '30m' } })] },
      `DoNotDisrupt: Node node-1 has the annotation ${DO_NOT_DISRUPT}`,
    ],
    [
      'takes the value false for a permission',
      { claims: [claimObject(1, { annotations: { [DO_NOT_DISRUPT]: 'false' } })] },
      undefined,
    ],
  ])('CAP-13 on a Node of Karpenter it %s', (_, input, expected) => {
    const [action] = planOf(input).actions;
    expect(action?.type === 'Create' && action.desired.hold).toBe(expected);
  });
});

function planOf({
  claims = [claimObject(1)],
  unreadable,
  ours = [],
  nodes = [claimedNode(1)],
}: ClaimCase): FollowPlan {
  const theirs = unreadable === undefined ? claims.map(nodeClaim) : { unreadable };
  const nodeOf = (name: string): KubeObject | undefined =>
    nodes.find(({ metadata }) => metadata.name === name);
  return planFollow({ theirs, machines: ours, nodeOf }, KARPENTER);
}
