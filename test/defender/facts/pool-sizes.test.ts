import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../src/api/generated/types.ts';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import { createPoolSizes, type PoolSizes } from '../../../src/defender/facts/pool-sizes.ts';
import { machineFacts } from '../builders.ts';

function set(name: string, replicas: number, labels: Readonly<Record<string, string>> = {}): MachineSet {
  const spec = { replicas, template: { labels } } as unknown as MachineSet['spec'];
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineSet', metadata: { name }, spec };
}

function ofSet(name: string, setName: string, facts: Partial<MachineFacts> = {}): MachineFacts {
  return machineFacts(name, { labels: { 'kubenode.dev/machineset': setName }, pool: setName, ...facts });
}

function poolOf(...machines: readonly MachineFacts[]): PoolSizes {
  const sizes = createPoolSizes();
  for (const machine of machines) sizes.putMachine(machine);
  return sizes;
}

describe('pool sizes', () => {
  it('R14 counts a replacement as missing until it was Ready once', () => {
    const sizes = poolOf(ofSet('a', 'web'), ofSet('b', 'web'));
    sizes.putSet(set('web', 3));
    expect(sizes.missingIn('web')).toBe(1);
    sizes.putMachine(ofSet('c', 'web', { established: false }));
    expect(sizes.missingIn('web')).toBe(1);
    sizes.putMachine(ofSet('c', 'web'));
    expect(sizes.missingIn('web')).toBe(0);
    sizes.removeMachine('a');
    expect(sizes.missingIn('web')).toBe(1);
  });

  it('misses nothing in a set that was scaled in, and counts a surplus in no other set of the pool', () => {
    const pool = { 'kubenode.dev/pool': 'shared' };
    const sizes = poolOf(...['a', 'b', 'c'].map((name) => ofSet(name, 'one', { pool: 'shared' })));
    sizes.putSet(set('one', 1, pool));
    expect(sizes.missingIn('shared')).toBe(0);
    sizes.putSet(set('two', 2, pool));
    expect(sizes.missingIn('shared')).toBe(2);
    sizes.removeSet('two');
    expect(sizes.missingIn('shared')).toBe(0);
  });

  it('counts an imported machine that was never Ready, and none that was deleted', () => {
    const sizes = poolOf(machineFacts('a', { established: false }), machineFacts('b'));
    expect(sizes.missingIn('web')).toBe(1);
    sizes.removeMachine('a');
    sizes.removeMachine('b');
    sizes.removeMachine('b');
    expect([sizes.missingIn('web'), sizes.missingIn('(none)')]).toEqual([0, 0]);
  });

  it('R15 desires what the sets of a pool want, and the machines of no set', () => {
    const pool = { 'kubenode.dev/pool': 'web' };
    const sizes = poolOf(ofSet('a', 'one', { pool: 'web' }), machineFacts('b', { pool: 'db' }));
    expect([sizes.desiredIn('web'), sizes.desiredIn('db'), sizes.desiredIn('none')]).toEqual([1, 1, 0]);
    sizes.putSet(set('one', 3, pool));
    sizes.putSet(set('two', 2, pool));
    expect(sizes.desiredIn('web')).toBe(5);
    sizes.putSet(set('one', 0, pool));
    expect(sizes.desiredIn('web')).toBe(2);
    const { metadata, ...rest } = set('two', 2, pool);
    sizes.putSet({ ...rest, metadata: { ...metadata, deletionTimestamp: '2030-01-01T12:00:00Z' } });
    expect([sizes.desiredIn('web'), sizes.missingIn('web')]).toEqual([0, 0]);
  });
});
