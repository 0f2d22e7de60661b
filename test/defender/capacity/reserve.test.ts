import { describe, expect, it } from 'vitest';
import { reserveAfter } from '../../../src/defender/capacity/reserve.ts';
import { capacityOf, nodeOf, podOf } from './builders.ts';

describe('reserveAfter', () => {
  it('R28 counts what is left by acts in work, closed nodes and Pods that wait for a place', () => {
    const nodes = [nodeOf('a'), nodeOf('b'), nodeOf('c'), nodeOf('d', { spec: { unschedulable: true } })];
    const cpu = { cpu: '1' };
    const pods = ['a', 'b', 'c', 'd', ''].map((node, index) => podOf(`p-${index}`, node, cpu));
    const { allocatable, requested, unknown } = reserveAfter({
      capacity: capacityOf(nodes, pods),
      node: 'a',
      inWork: ['b'],
    });
    expect([allocatable.get('cpu'), requested.get('cpu'), unknown]).toEqual([4000, 4000, 0]);
  });

  it('R28 tells how many Pods have requests that cannot be read', () => {
    const pods = [podOf('x', 'a', { cpu: 'much' }), podOf('y', 'b', {})];
    expect(reserveAfter({ capacity: capacityOf([], pods), node: 'a', inWork: [] }).unknown).toBe(1);
  });
});
