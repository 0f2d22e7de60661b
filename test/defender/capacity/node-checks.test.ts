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

function depthOf(room: Room, request: PlaceRequest): number {
  return firstObjection(room, request)?.depth ?? Infinity;
}

function requestOf(requests: object, more: object = {}, rules: readonly TopologyRule[] = []): PlaceRequest {
  const pod = capacityPod(podOf('api-1', 'a', requests, more));
  if (!pod.needs) throw new Error('no needs');
  const amounts = { cpu: requested(pod, 'cpu'), memory: requested(pod, 'memory') };
  return { needs: pod.needs, home: HOME, rules, ...amounts };
}

const CLAIM = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
const GPU = { 'example.com/gpu': '1' };

interface Expected {
  readonly because: string | undefined;
  /** The results of `mayTake` and `takesNow`. */
  readonly passes: readonly [boolean, boolean];
}

const TAKEN: Expected = { because: undefined, passes: [true, true] };

function lasting(because: string): Expected {
  return { because, passes: [false, true] };
}

function ofThePod(because: string): Expected {
  return { because, passes: [true, false] };
}

describe('checks of one node against one Pod', () => {
  it.each([
    ['takes it', roomOf({}), requestOf({ cpu: '4' }), TAKEN],
    ['what was added counts', roomOf({}, { cpu: '1' }), requestOf({ cpu: '4' }), lasting('too little cpu')],
    [
      'what was added counts for each resource',
      roomOf({ allocatable: { ...GPU, pods: '9' } }, GPU),
      requestOf(GPU),
      lasting('too little example.com/gpu'),
    ],
    ['cordoned', roomOf({ spec: { unschedulable: true } }), requestOf({}), lasting('cordoned')],
    ['a request of nothing', roomOf({ allocatable: { pods: '9' } }), requestOf({}), TAKEN],
    ['a volume of its zone', roomOf({ labels: { [ZONE]: 'z1' } }), requestOf({}, CLAIM), TAKEN],
    [
      'a volume of another zone',
      roomOf({ labels: { [ZONE]: 'z2' } }),
      requestOf({}, CLAIM),
      ofThePod('another zone than its volumes'),
    ],
    ['a topology', roomOf({}), requestOf({}, {}, [() => 'kept away']), ofThePod('kept away')],
  ])('R28 tells what lasts from what depends on the Pod: %s', (_, room, request, expected) => {
    expect([mayTake(room, request), takesNow(room, request)]).toEqual(expected.passes);
    expect(firstObjection(room, request)?.because).toBe(expected.because);
  });

  it('R28 counts a later check as nearer to taking the Pod', () => {
    const closed = depthOf(roomOf({ ready: 'False' }), requestOf({}));
    const small = depthOf(roomOf({}), requestOf({ cpu: '9' }));
    const kept = depthOf(roomOf({}), requestOf({}, {}, [() => 'kept away']));
    expect(closed < small && small < kept && kept < Infinity).toBe(true);
  });
});
