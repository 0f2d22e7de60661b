import { describe, expect, it } from 'vitest';
import { reserveAfter } from '../../../src/defender/capacity/reserve.ts';
import { capacityOf, nodeOf, podOf } from './builders.ts';

describe('reserveAfter', () => {
  it('R28 counts what is left by acts in work, closed nodes and Pods that wait for a place', () => {
    const nodes = [nodeOf('a'), nodeOf('b'), nodeOf('c'), nodeOf('d', { spec: { unschedulable: true } })];
    const cpu = { cpu: '1' };
    const pods = ['a', 'b', 'c', 'd', ''].map((node, index) => podOf(`p-${index}`, node, cpu));
    const input = { capacity: capacityOf(nodes, pods), node: 'a', inWork: ['b'] };
    expect(reserveAfter(input, 'cpu')).toEqual({ allocatable: 4000, requested: 4000 });
  });
});
