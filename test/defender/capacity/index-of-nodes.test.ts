import { describe, expect, it } from 'vitest';
import { createCapacityIndex } from '../../../src/defender/capacity/index-of-nodes.ts';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import { podOf } from './builders.ts';

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
});
