import { describe, expect, it } from 'vitest';
import { planPlacement } from '../../../src/defender/capacity/place.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
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

  it('R28 names five of many Pods, because for each every node is read', () => {
    const pods = Array.from({ length: 9 }, (_, index) => podOf(`api-${index}`, 'a', {}));
    expect(explain([A], pods)).toHaveLength(5);
  });
});
