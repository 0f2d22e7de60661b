import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import type { ForeignCluster, ForeignMachine } from '../../../src/controllers/clusterapi/contract.ts';
import { isOwn } from '../../../src/controllers/clusterapi/own-machine.ts';
import { type FollowInput, planFollow } from '../../../src/controllers/clusterapi/plan.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { machine, node } from '../../support/builders.ts';
import { CLUSTER, ours, theirNode, theirs } from './objects.ts';

interface Case {
  readonly theirs?: readonly ForeignMachine[];
  readonly clusters?: readonly ForeignCluster[];
  readonly unreadable?: string;
  readonly ours?: readonly Machine[];
  readonly nodes?: readonly KubeObject[];
}

const PAUSED = 'cluster.x-k8s.io/paused';
const NO_DRAIN = 'machine.cluster.x-k8s.io/exclude-node-draining';
const NO_REMEDIATION = 'cluster.x-k8s.io/skip-remediation';
const OF_MD_1 = 'Machine fleet/md-1 of Cluster API';

describe('what follows from the Machines of Cluster API', () => {
  it.each<[string, Case, readonly string[]]>([
    ['creates one of ours', {}, [`Create node-1: ${OF_MD_1} has Node node-1`]],
    ['does nothing when it has what theirs has', { ours: [ours(1)] }, []],
    [
      'changes labels and zone in place',
      { theirs: [theirs(1, { labels: { pool: 'gpu' }, zone: 'zone-b' })], ours: [ours(1)] },
      [`Update node-1: ${OF_MD_1}: zone, labels changed`],
    ],
    [
      'removes a label that theirs has no more',
      { theirs: [theirs(1, { labels: {} })], ours: [ours(1)] },
      [`Update node-1: ${OF_MD_1}: labels changed`],
    ],
    [
      'keeps the machine of an instance whose object was restored under another name',
      { theirs: [theirs(1, { name: 'md-9' })], ours: [ours(1)] },
      ['Update node-1: Machine fleet/md-9 of Cluster API: object changed'],
    ],
    [
      'deletes one of ours when theirs is not found',
      { theirs: [], ours: [ours(1)] },
      [`Delete node-1: ${OF_MD_1} was not found`],
    ],
    ['deletes nothing twice', { theirs: [], ours: [ours(1, { isDeleting: true })] }, []],
    ['deletes no machine of a person', { theirs: [], ours: [machine('node-1')] }, []],
    [
      'deletes no machine that a person wrote like one of ours',
      { theirs: [], ours: [ours(1, { manager: 'kubectl' })] },
      [],
    ],
    ['deletes none whose object is unknown', { theirs: [], ours: [ours(1, { config: {} })] }, []],
    [
      'replaces the machine of another instance with the same Node name',
      { ours: [ours(1, { providerID: 'inst://0' })] },
      [
        `Delete node-1: ${OF_MD_1} was not found`,
        'Waiting fleet/md-1 Replacing: Machine node-1 of kubenode is for another instance, or is being deleted',
      ],
    ],
    [
      'moves to the Node that its instance has now',
      { theirs: [theirs(1, { node: 'node-2' })], nodes: [renamed(1, 'node-2')], ours: [ours(1)] },
      [
        `Delete node-1: the Node of ${OF_MD_1} is node-2`,
        `Create node-2: ${OF_MD_1} has Node node-2`,
      ],
    ],
  ])('CAP-01 %s', (_, input, expected) => {
    expect(explain(input)).toEqual(expected);
  });

  it.each<[string, Case, readonly string[]]>([
    [
      'waits for a provider ID',
      { theirs: [theirs(1, { providerID: undefined })] },
      ['Waiting fleet/md-1 NoProviderID: it has no spec.providerID yet'],
    ],
    [
      'waits for a Node',
      { theirs: [theirs(1, { node: undefined })] },
      ['Waiting fleet/md-1 NoNode: it has no status.nodeRef yet'],
    ],
    [
      'does not follow a machine of another cluster',
      { nodes: [] },
      ['Waiting fleet/md-1 NodeNotFound: Node node-1 is not in this cluster'],
    ],
    [
      'waits for the provider ID of its Node',
      { nodes: [node('node-1')] },
      ['Waiting fleet/md-1 NodeWithoutProviderID: Node node-1 has no spec.providerID yet'],
    ],
    [
      'refuses a Node on another instance',
      { theirs: [theirs(1, { providerID: 'inst://7' })] },
      ['Refused fleet/md-1 NodeOfAnother: Node node-1 is on instance inst://1'],
    ],
    [
      'refuses a Node that Cluster API gave to another machine',
      { nodes: [theirNode(1, { 'cluster.x-k8s.io/machine': 'md-7' })] },
      ['Refused fleet/md-1 NodeOfAnother: Node node-1 belongs to Machine fleet/md-7 of Cluster API'],
    ],
    [
      'refuses a Node of a cluster in another namespace',
      { nodes: [theirNode(1, { 'cluster.x-k8s.io/cluster-namespace': 'other' })] },
      ['Refused fleet/md-1 NodeOfAnother: Node node-1 belongs to Machine other/md-1 of Cluster API'],
    ],
    [
      'follows neither of two with one provider ID',
      { theirs: [theirs(1), theirs(2, { providerID: 'inst://1' })], nodes: [theirNode(1), theirNode(2)] },
      [
        'Refused fleet/md-1 Duplicate: Machine fleet/md-2 of Cluster API has the same provider ID or Node',
        `Refused fleet/md-2 Duplicate: ${OF_MD_1} has the same provider ID or Node`,
      ],
    ],
    [
      'follows neither of two with one Node',
      { theirs: [theirs(1), theirs(2, { node: 'node-1' })] },
      [
        'Refused fleet/md-1 Duplicate: Machine fleet/md-2 of Cluster API has the same provider ID or Node',
        `Refused fleet/md-2 Duplicate: ${OF_MD_1} has the same provider ID or Node`,
      ],
    ],
    [
      'refuses a name that no Machine can have',
      { theirs: [theirs(1, { node: 'n'.repeat(64) })], nodes: [renamed(1, 'n'.repeat(64))] },
      [`Refused fleet/md-1 NameTooLong: the name of a Machine has at most 63 characters: ${'n'.repeat(64)}`],
    ],
    [
      'leaves a Machine of that name that is not of this controller',
      { ours: [machine('node-1')] },
      ['Refused fleet/md-1 NameTaken: Machine node-1 of kubenode exists, and is not of this controller'],
    ],
    [
      'waits for one of ours that is being deleted',
      { ours: [ours(1, { isDeleting: true })] },
      [
        'Waiting fleet/md-1 Replacing: Machine node-1 of kubenode is for another instance, or is being deleted',
      ],
    ],
  ])('CAP-02 %s', (_, input, expected) => {
    expect(explain(input)).toEqual(expected);
  });

  it.each<[string, Case, string | undefined]>([
    ['permits disruption by default', {}, undefined],
    [
      'honors the pause of a Cluster',
      { clusters: [{ ...CLUSTER, isPaused: true }] },
      'ClusterPaused: Cluster fleet/c of Cluster API is paused',
    ],
    [
      'honors the pause of a Machine',
      { theirs: [theirs(1, { annotations: { [PAUSED]: '' } })] },
      `MachinePaused: ${OF_MD_1} has the annotation ${PAUSED}`,
    ],
    [
      'leaves a machine alone that they delete and drain',
      { theirs: [theirs(1, { isDeleting: true })], clusters: [{ ...CLUSTER, isPaused: true }] },
      `MachineDeleting: ${OF_MD_1} is being deleted, and drained there`,
    ],
    [
      'leaves the machines of a Cluster alone that they delete',
      { clusters: [{ ...CLUSTER, isDeleting: true }] },
      'ClusterDeleting: Cluster fleet/c of Cluster API is being deleted',
    ],
    [
      'is careful without the Cluster, which may be paused',
      { clusters: [{ ...CLUSTER, namespace: 'other' }] },
      'ClusterUnknown: Cluster fleet/c of Cluster API was not found',
    ],
    [
      'honors that a machine is excluded from drains',
      { theirs: [theirs(1, { annotations: { [NO_DRAIN]: 'false' } })] },
      `DrainExcluded: ${OF_MD_1} has the annotation ${NO_DRAIN}`,
    ],
    [
      'honors that no remediation may replace a machine',
      { theirs: [theirs(1, { annotations: { [NO_REMEDIATION]: '' } })] },
      `RemediationSkipped: ${OF_MD_1} has the annotation ${NO_REMEDIATION}`,
    ],
  ])('CAP-03 %s', (_, input, expected) => {
    const [action] = planFollow(inputOf(input)).actions;
    expect(action?.type === 'Create' && action.desired.hold).toBe(expected);
  });

  it.each<[string, Case, readonly string[]]>([
    [
      'removes a hold that ended',
      { ours: [ours(1, { hold: 'ClusterPaused: it is paused' })] },
      [`Update node-1: ${OF_MD_1}: hold changed`],
    ],
    [
      'holds its machines while theirs cannot be read',
      { unreadable: 'not served', ours: [ours(1), machine('node-2')] },
      ['Update node-1: NotObserved: not served'],
    ],
    [
      'holds them once',
      { unreadable: 'not served', ours: [ours(1, { hold: 'NotObserved: not served' })] },
      [],
    ],
    [
      'holds a machine that has a twin since then',
      { theirs: [theirs(1), theirs(2, { providerID: 'inst://1' })], ours: [ours(1)] },
      [
        'Update node-1: Duplicate: Machine fleet/md-2 of Cluster API has the same provider ID or Node',
        'Refused fleet/md-1 Duplicate: Machine fleet/md-2 of Cluster API has the same provider ID or Node',
        `Refused fleet/md-2 Duplicate: ${OF_MD_1} has the same provider ID or Node`,
      ],
    ],
    [
      'holds a machine whose Node is not found, and keeps it',
      { nodes: [], ours: [ours(1)] },
      [
        'Update node-1: NodeNotFound: Node node-1 is not in this cluster',
        'Waiting fleet/md-1 NodeNotFound: Node node-1 is not in this cluster',
      ],
    ],
  ])('CAP-03 %s', (_, input, expected) => {
    expect(explain(input)).toEqual(expected);
  });

  it('CAP-02 takes over no label that has a meaning for kubenode', () => {
    const labels = { pool: 'gpu', 'kubenode.dev/machineset': 'x', 'sub.kubenode.dev/y': 'z' };
    const [action] = planFollow(inputOf({ theirs: [theirs(1, { labels })] })).actions;
    expect(action?.type === 'Create' && action.desired.labels).toEqual({ pool: 'gpu' });
  });

  it('CAP-02 never deletes what is not its own, and never plans two writes of one name', () => {
    const foreign = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3))
      .map(([name, id, at]) => theirs(name, { providerID: `inst://${id}`, node: `node-${at}` }));
    const own = fc
      .tuple(fc.nat(3), fc.nat(3), fc.boolean())
      .map(([n, id, isOurs]) => (isOurs ? ours(n, { providerID: `inst://${id}` }) : machine(`node-${n}`)));
    const nameOf = ({ name }: ForeignMachine): string => name;
    fc.assert(
      fc.property(
        fc.uniqueArray(foreign, { selector: nameOf }),
        fc.uniqueArray(own, { selector: ({ metadata }) => metadata.name }),
        (machines, present) => {
          const nodes = [0, 1, 2, 3].map((n) => theirNode(n));
          const { actions } = planFollow(inputOf({ theirs: machines, ours: present, nodes }));
          const deleted = actions.flatMap((each) => (each.type === 'Delete' ? [each.machine] : []));
          expect(deleted.every(isOwn)).toBe(true);
          const names = actions.map((each) =>
            each.type === 'Delete' ? each.machine.metadata.name : each.desired.name,
          );
          expect(new Set(names).size).toBe(names.length);
        },
      ),
    );
  });
});

function renamed(n: number, name: string): KubeObject {
  const found = theirNode(n);
  return { ...found, metadata: { ...found.metadata, name } };
}

function inputOf(input: Case): FollowInput {
  const { theirs: machines = [theirs(1)], clusters = [CLUSTER], unreadable } = input;
  const nodes = input.nodes ?? [theirNode(1)];
  return {
    theirs: unreadable === undefined ? { machines, clusters } : { unreadable },
    machines: input.ours ?? [],
    nodeOf: (name) => nodes.find(({ metadata }) => metadata.name === name),
  };
}

function explain(input: Case): readonly string[] {
  const { actions, unfollowed } = planFollow(inputOf(input));
  return [
    ...actions.map((each) => {
      const name = each.type === 'Delete' ? each.machine.metadata.name : each.desired.name;
      return `${each.type} ${name}: ${each.because}`;
    }),
    ...unfollowed.map(
      ({ state, machine: name, reason, message }) => `${state} ${name} ${reason}: ${message}`,
    ),
  ];
}
