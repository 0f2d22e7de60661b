import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDomainCounter, type Placed } from '../../../src/defender/capacity/domain-counts.ts';
import { firstObjection, type Room, requested } from '../../../src/defender/capacity/node-checks.ts';
import { type PlacementInput, planPlacement } from '../../../src/defender/capacity/place.ts';
import type { CapacityPod } from '../../../src/defender/capacity/pod.ts';
import { topologyRules } from '../../../src/defender/capacity/topology.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { runs } from '../../support/sweep-size.ts';
import { capacityOf, nodeOf, podOf } from './builders.ts';

function explain(nodes: readonly KubeObject[], pods: readonly KubeObject[], inWork: readonly string[] = []) {
  const { nowhere, unknown } = planPlacement({ capacity: capacityOf(nodes, pods), node: 'a', inWork });
  return [
    ...nowhere.map(({ pod, because }) => `${pod}: ${because}`),
    ...unknown.map((pod) => `${pod} unknown`),
  ];
}

const A = nodeOf('a', { labels: { 'topology.kubernetes.io/zone': 'z1' } });
const TAINT = { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] };
const CLAIM = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
const PORT = { containers: [{ ports: [{ hostPort: 80 }] }] };
const IMPOSSIBLE = {
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
};

function daemon(pod: KubeObject): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true };
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } };
}

describe('Pods that an act evicts', () => {
  it.each([
    ['no other node', [A], [podOf('api-1', 'a', {})], ['web/api-1: there is no other node']],
    ['no nodes at all', [], [podOf('api-1', 'a', {})], ['web/api-1: there is no other node']],
    ['no Pods', [A], [], []],
    ['Pods of DaemonSets only', [A], [daemon(podOf('log', 'a', {}))], []],
    ['room', [A, nodeOf('b')], [podOf('api-1', 'a', { cpu: '4' })], []],
    [
      'the deepest cause first',
      [A, nodeOf('b', { spec: TAINT }), nodeOf('c'), nodeOf('d'), nodeOf('e', { ready: 'False' })],
      [podOf('api-1', 'a', { memory: '9Gi' })],
      ['web/api-1: too little memory on 2 nodes, taint gpu on 1 node, not Ready on 1 node'],
    ],
    [
      'cordoned',
      [A, nodeOf('b', { spec: { unschedulable: true } })],
      [podOf('api-1', 'a', {})],
      ['web/api-1: cordoned on 1 node'],
    ],
    [
      'no allocatable',
      [A, nodeOf('b', { allocatable: undefined })],
      [podOf('api-1', 'a', {})],
      ['web/api-1: no known allocatable on 1 node'],
    ],
    [
      'used by Pods that stay, without requests too',
      [A, nodeOf('b', { allocatable: { cpu: '1', pods: '1' } })],
      [podOf('api-1', 'a', {}), podOf('db', 'b', {})],
      ['web/api-1: too little pods on 1 node'],
    ],
    [
      'the same place twice, the largest first',
      [A, nodeOf('b')],
      [podOf('api-1', 'a', { cpu: '1' }), podOf('api-2', 'a', { cpu: '4' })],
      ['web/api-1: too little cpu on 1 node'],
    ],
    [
      'a volume of another zone',
      [A, nodeOf('b', { labels: { 'topology.kubernetes.io/zone': 'z2' } })],
      [podOf('db', 'a', {}, CLAIM)],
      ['web/db: another zone than its volumes on 1 node'],
    ],
    [
      'a taken port',
      [A, nodeOf('b')],
      [podOf('api-1', 'a', {}, PORT), podOf('proxy', 'b', {}, PORT)],
      ['web/api-1: port 80/TCP taken on 1 node'],
    ],
    [
      'affinity that nothing matches',
      [A, nodeOf('b')],
      [podOf('api-1', 'a', {}, IMPOSSIBLE)],
      ['web/api-1: other labels than it selects on 1 node'],
    ],
    [
      'a request that cannot be read',
      [A, nodeOf('b')],
      [podOf('api-1', 'a', { cpu: 'x' })],
      ['web/api-1 unknown'],
    ],
    [
      'a request there that cannot be read',
      [A, nodeOf('b')],
      [podOf('api-1', 'a', {}), podOf('db', 'b', { cpu: 'x' })],
      ['web/api-1: Pods with requests that cannot be read on 1 node'],
    ],
  ])('R28 explains each of them: %s', (_, nodes, pods, expected) => {
    expect(explain(nodes, pods)).toEqual(expected);
  });

  it('R28 counts on no place that the Pods of an act in work need, and on no node of one', () => {
    const nodes = [A, nodeOf('b'), nodeOf('c')];
    const pods = [podOf('api-1', 'a', { cpu: '3' }), podOf('api-2', 'b', { cpu: '3' })];
    expect(explain(nodes, pods)).toEqual([]);
    expect(explain(nodes, pods, ['b'])).toEqual(['web/api-1: too little cpu on 1 node']);
  });

  it.each([
    ['a Pod that waits for a node takes the place', { status: {} }, ['web/api-1: too little cpu on 1 node']],
    [
      'a Pod that kube-scheduler found no node for takes none',
      { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } },
      [],
    ],
  ])('R28 counts on no place that a Pod will take: %s', (_, fields, expected) => {
    const waiting = { ...podOf('new', '', { cpu: '3' }), ...fields };
    expect(explain([A, nodeOf('b')], [podOf('api-1', 'a', { cpu: '3' }), waiting])).toEqual(expected);
  });

  it('R28 leaves Pods of a DaemonSet and mirror Pods where they are', () => {
    const mirror = podOf('etcd', 'a', { cpu: '9' });
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    const pods = [
      { ...mirror, metadata: { ...mirror.metadata, annotations } },
      daemon(podOf('log', 'a', { cpu: '9' })),
    ];
    expect(explain([A], pods)).toEqual([]);
  });

  it('R28 names five of many Pods, because for each every node is read', () => {
    const pods = Array.from({ length: 9 }, (_, index) => podOf(`api-${index}`, 'a', {}));
    expect(explain([A], pods)).toHaveLength(5);
  });
});

const HOST = 'kubernetes.io/hostname';
const LATER = 'DuringSchedulingIgnoredDuringExecution';

/** Replicas of few templates, so that what the first one found is reused by the others. */
const TEMPLATES = [
  {},
  affinity('podAntiAffinity', 'api'),
  affinity('podAntiAffinity', 'db'),
  affinity('podAffinity', 'db'),
  { topologySpreadConstraints: [spread(HOST, 1)] },
  { topologySpreadConstraints: [spread(HOST, 1)], nodeSelector: { rack: 'r1' } },
  { topologySpreadConstraints: [spread('rack', 1)] },
  { tolerations: [{ key: 'gpu', operator: 'Exists' }], ...PORT },
];

function affinity(kind: string, app: string): object {
  const term = { labelSelector: { matchLabels: { app } }, topologyKey: app === 'db' ? 'rack' : HOST };
  return { affinity: { [kind]: { [`required${LATER}`]: [term] } } };
}

function spread(topologyKey: string, maxSkew: number): object {
  const labelSelector = { matchLabels: { app: 'api' } };
  return { topologyKey, maxSkew, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
}

const FLEET = fc.record({
  nodes: fc.array(fc.record({ rack: fc.constantFrom('r1', 'r2'), taint: fc.boolean() }), {
    minLength: 2,
    maxLength: 6,
  }),
  pods: fc.array(
    fc.record({
      app: fc.constantFrom('api', 'db'),
      node: fc.nat(6),
      cpu: fc.constantFrom('1', '2', '3'),
      template: fc.constantFrom(...TEMPLATES),
    }),
    { maxLength: 16 },
  ),
});

describe('planPlacement', () => {
  it('R28 finds the same places as when each Pod reads all nodes and counts all Pods', () => {
    fc.assert(
      fc.property(FLEET, ({ nodes, pods }) => {
        const capacity = capacityOf(
          nodes.map(({ rack, taint }, index) =>
            nodeOf(`n-${index}`, { labels: { rack }, ...(taint ? { spec: TAINT } : {}) }),
          ),
          pods.map(({ app, node, cpu, template }, index) =>
            podOf(`${app}-${index}`, node < nodes.length ? `n-${node}` : '', { cpu }, template),
          ),
        );
        const input = { capacity, node: 'n-0', inWork: ['n-1'] };
        expect(planPlacement(input).nowhere.map(({ pod }) => pod)).toEqual(misfitsByHand(input));
      }),
      runs(150, 3000),
    );
  });
});

/** Nothing that one Pod found is kept for the next one. */
function misfitsByHand({ capacity, node, inWork }: PlacementInput): readonly string[] {
  const leaving = new Set([node, ...inWork]);
  const slots = [...capacity.slots()];
  const rooms = slots.flatMap(({ node: at, ...slot }): Room[] =>
    at && !leaving.has(at.name)
      ? [{ slot: { ...slot, node: at }, node: at, added: [], cpu: slot.cpu, memory: slot.memory }]
      : [],
  );
  const moved: Placed[] = [];
  const misfits = (name: string): readonly string[] => {
    const pods = [...(capacity.slot(name)?.pods.values() ?? [])].toSorted(
      (a, b) => requested(b, 'cpu') - requested(a, 'cpu') || (a.name < b.name ? -1 : 1),
    );
    return pods.filter((pod) => !placed(pod)).map((pod) => pod.name);
  };
  const placed = (pod: CapacityPod): boolean => {
    if (!pod.needs) return false;
    const counter = createDomainCounter({
      nodes: () => slots.flatMap((slot) => slot.node ?? []),
      nodeOf: ({ node: at = '' }) => (leaving.has(at) ? undefined : capacity.slot(at)?.node),
      moved,
    });
    const rules = topologyRules({
      pod,
      needs: pod.needs,
      key: pod.name,
      places: { groups: capacity.groups, counter },
    });
    const request = { needs: pod.needs, home: undefined, rules, cpu: requested(pod, 'cpu'), memory: 0 };
    const room = rooms.find((each) => firstObjection(each, request) === undefined);
    if (!room) return false;
    room.added = [...room.added, pod];
    room.cpu -= request.cpu;
    moved.push([pod, room.node]);
    return true;
  };
  for (const name of ['', ...inWork]) misfits(name);
  return misfits(node).slice(0, 5);
}
