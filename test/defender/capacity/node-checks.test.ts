import { describe, expect, it } from 'vitest';
import {
  firstObjection,
  mayTake,
  type PlaceRequest,
  type Room,
  requested,
  takesNow,
} from '../../../src/defender/capacity/node-checks.ts';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import type { TopologyRule } from '../../../src/defender/capacity/topology.ts';
import { capacityOf, type NodeFields, nodeOf, podOf } from './builders.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOME = capacityOf([nodeOf('a', { labels: { [ZONE]: 'z1' } })], []).slot('a')?.node;

function roomOf(fields: NodeFields, added: object = {}): Room {
  const slot = capacityOf([nodeOf('b', fields)], []).slot('b');
  if (!slot?.node) throw new Error('no node');
  const pod = capacityPod(podOf('added', 'a', added));
  const cpu = slot.cpu - requested(pod, 'cpu');
  return { slot, node: slot.node, added: [pod], cpu, memory: slot.memory };
}

function requestOf(requests: object, more: object = {}, rules: readonly TopologyRule[] = []): PlaceRequest {
  const pod = capacityPod(podOf('api-1', 'a', requests, more));
  if (!pod.needs) throw new Error('no needs');
  const amounts = { cpu: requested(pod, 'cpu'), memory: requested(pod, 'memory') };
  return { needs: pod.needs, home: HOME, rules, ...amounts };
}

const CLAIM = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
const GPU = { 'example.com/gpu': '1' };

describe('checks of one node against one Pod', () => {
  it.each([
    ['takes it', roomOf({}), requestOf({ cpu: '4' }), undefined, true],
    ['what was added counts', roomOf({}, { cpu: '1' }), requestOf({ cpu: '4' }), 'too little cpu', false],
    [
      'what was added counts for each resource',
      roomOf({ allocatable: { ...GPU, pods: '9' } }, GPU),
      requestOf(GPU),
      'too little example.com/gpu',
      false,
    ],
    ['cordoned', roomOf({ spec: { unschedulable: true } }), requestOf({}), 'cordoned', false],
    [
      'a Pod that requests nothing of a full node',
      roomOf({ allocatable: { pods: '9' } }),
      requestOf({}),
      undefined,
      true,
    ],
    ['a volume of its zone', roomOf({ labels: { [ZONE]: 'z1' } }), requestOf({}, CLAIM), undefined, true],
    [
      'a volume of another zone',
      roomOf({ labels: { [ZONE]: 'z2' } }),
      requestOf({}, CLAIM),
      'another zone than its volumes',
      true,
    ],
    ['a rule of topology', roomOf({}), requestOf({}, {}, [() => 'kept away']), 'kept away', true],
  ] as const)('R28 tells what lasts from what depends on the Pod: %s', (_, room, request, because, may) => {
    expect([firstObjection(room, request)?.because, mayTake(room, request)]).toEqual([because, may]);
    if (may) expect(takesNow(room, request)).toBe(because === undefined);
  });

  it('R28 counts a later check as nearer to taking the Pod', () => {
    const depth = (room: Room, request: PlaceRequest) => firstObjection(room, request)?.depth ?? Infinity;
    const closed = depth(roomOf({ ready: 'False' }), requestOf({}));
    const small = depth(roomOf({}), requestOf({ cpu: '9' }));
    const kept = depth(roomOf({}), requestOf({}, {}, [() => 'kept away']));
    expect(closed < small && small < kept && kept < Infinity).toBe(true);
  });
});
