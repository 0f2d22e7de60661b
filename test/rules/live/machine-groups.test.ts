import { describe, expect, it } from 'vitest';
import { createMachineGroups } from '../../../src/rules/live/machine-groups.ts';

describe('createMachineGroups', () => {
  it('counts a machine in each of its groups, and in no other one after it moved', () => {
    const groups = createMachineGroups();
    groups.place('a', ['x=1', 'y=1']);
    groups.place('b', ['x=1']);
    groups.suspect('a', true);
    expect(groups.group('x=1')).toEqual({ total: 2, suspects: new Set(['a']) });
    groups.place('a', ['x=2', 'y=1']);
    expect(groups.group('x=1')).toEqual({ total: 1, suspects: new Set() });
    expect([groups.group('x=2').total, groups.group('y=1').total]).toEqual([1, 1]);
    groups.suspect('a', true);
    groups.place('a', ['x=2', 'y=1']);
    expect(groups.group('x=2').suspects).toEqual(new Set(['a']));
    groups.suspect('a', false);
    expect(groups.group('x=2').suspects).toEqual(new Set());
    groups.place('a', []);
    expect([groups.keysOf('a'), groups.group('x=2').total, groups.group('never').total]).toEqual([[], 0, 0]);
  });
});
