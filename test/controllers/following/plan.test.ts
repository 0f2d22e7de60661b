import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ForeignMachine } from '../../../src/controllers/following/clusterapi/contract.ts';
import { CLUSTER_API } from '../../../src/controllers/following/clusterapi/owner.ts';
import { isOwn } from '../../../src/controllers/following/own-machine.ts';
import { machine } from '../../support/builders.ts';
import { explain, type FollowCase, planOf, renamed } from './clusterapi/cases.ts';
import { ours, theirNode, theirs } from './clusterapi/objects.ts';

const OF_MD_1 = 'Machine fleet/md-1 of Cluster API';

describe('what follows from the Machines of Cluster API', () => {
  it.each<[string, FollowCase, readonly string[]]>([
    ['creates our Machine', {}, [`Create node-1: ${OF_MD_1} is on instance inst://1`]],
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
      'deletes our Machine when theirs is not found',
      { theirs: [], ours: [ours(1)] },
      [`Delete node-1: ${OF_MD_1} was not found`],
    ],
    ['deletes nothing twice', { theirs: [], ours: [ours(1, { isDeleting: true })] }, []],
    ['deletes no machine of a person', { theirs: [], ours: [machine('node-1')] }, []],
    [
      'deletes no machine that a person wrote in the same way',
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
        `Create node-2: ${OF_MD_1} is on instance inst://1`,
      ],
    ],
  ])('CAP-01 for the Machines of Cluster API it %s', (_, input, expected) => {
    expect(explain(input)).toEqual(expected);
  });

  it.each<[string, FollowCase, readonly string[]]>([
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
  ])('CAP-03 with the holds of Cluster API it %s', (_, input, expected) => {
    expect(explain(input)).toEqual(expected);
  });

  it('CAP-02 takes over no label that has a meaning for kubenode', () => {
    const labels = { pool: 'gpu', 'kubenode.dev/machineset': 'x', 'sub.kubenode.dev/y': 'z' };
    const [action] = planOf({ theirs: [theirs(1, { labels })] }).actions;
    expect(action?.type === 'Create' && action.desired.labels).toEqual({ pool: 'gpu' });
  });

  it('CAP-02 never deletes what is not its own, and never plans two writes of one name', () => {
    const foreign = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3))
      .map(([name, id, at]) => theirs(name, { providerID: `inst://${id}`, node: `node-${at}` }));
    const own = fc
      .tuple(fc.nat(3), fc.nat(3), fc.boolean())
      .map(([n, id, isOurs]) => (isOurs ? ours(n, { providerID: `inst://${id}` }) : machine(`node-${n}`)));
    fc.assert(
      fc.property(
        fc.uniqueArray(foreign, { selector: ({ name }: ForeignMachine) => name }),
        fc.uniqueArray(own, { selector: ({ metadata }) => metadata.name }),
        (machines, present) => {
          const nodes = [0, 1, 2, 3].map((n) => theirNode(n));
          const { actions } = planOf({ theirs: machines, ours: present, nodes });
          const deleted = actions.flatMap((each) => (each.type === 'Delete' ? [each.machine] : []));
          expect(deleted.every((each) => isOwn(each, CLUSTER_API))).toBe(true);
          const names = actions.map((each) =>
            each.type === 'Delete' ? each.machine.metadata.name : each.desired.name,
          );
          expect(new Set(names).size).toBe(names.length);
        },
      ),
    );
  });
});
