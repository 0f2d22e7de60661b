import { describe, expect, it } from 'vitest';
import { createCapacityIndex } from '../../../src/defender/capacity/index-of-nodes.ts';
import { capacityNode } from '../../../src/defender/capacity/node.ts';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import { nodeOf, podOf } from './builders.ts';

describe('createCapacityIndex', () => {
  it('R28 forgets what a Pod took when it moves or goes, and a node without Pods', () => {
    const index = createCapacityIndex();
    index.putPod(capacityPod(podOf('x', 'a', { cpu: '1' })));
    index.putPod(capacityPod(podOf('x', 'b', { cpu: '2' })));
    expect([...index.slots()].map(({ used }) => used.get('cpu'))).toEqual([2000]);
    index.removePod('web/x');
    index.removePod('web/x');
    index.removeNode('a');
    expect([...index.slots()]).toEqual([]);
  });

  it('R28 tells how many Pods have requests that cannot be read', () => {
    const index = createCapacityIndex();
    for (const cpu of ['much', '1']) index.putPod(capacityPod(podOf(`x-${cpu}`, 'a', { cpu })));
    expect(index.unknown).toBe(1);
    index.putPod(capacityPod(podOf('x-much', 'a', { cpu: '2' })));
    expect(index.unknown).toBe(0);
  });

  it('R28 keeps what is free current, whichever of node and Pods comes first', () => {
    const index = createCapacityIndex();
    index.putPod(capacityPod(podOf('x', 'a', { cpu: '1', memory: '1Gi' })));
    index.putNode(capacityNode(nodeOf('a')));
    expect(index.slot('a')).toMatchObject({ cpu: 3000, memory: 7 * 2 ** 30 * 1000 });
    index.removePod('web/x');
    expect(index.slot('a')).toMatchObject({ cpu: 4000, memory: 8 * 2 ** 30 * 1000 });
    index.putNode(capacityNode(nodeOf('a', { allocatable: { cpu: '2' } })));
    expect(index.slot('a')).toMatchObject({ cpu: 2000, memory: 0 });
  });
});
