import { describe, expect, it } from 'vitest';
import type { InstanceRequest } from '../../../src/providers/contract.ts';
import { createSimulatedCloud, NEVER_JOINS, type SimulatedCloud } from '../../../src/sim/machines/cloud.ts';
import { createRandom } from '../../../src/sim/random.ts';

const REQUEST: InstanceRequest = {
  machine: 'm-1',
  tags: { clusterUid: 'c', machineUid: 'u-1' },
  config: {},
  host: 'sandbox',
};

interface Bed {
  readonly cloud: SimulatedCloud;
  readonly clock: { nowMs: number };
  readonly log: readonly string[];
}

function createBed(isBad = false): Bed {
  const clock = { nowMs: 0 };
  const log: string[] = [];
  const cloud = createSimulatedCloud({
    nowMs: () => clock.nowMs,
    random: { ...createRandom(1), chance: () => isBad },
    isCalm: () => false,
    created: ({ id }) => void log.push(`created ${id}`),
    deleting: ({ id }) => void log.push(`deleting ${id}`),
  });
  return { cloud, clock, log };
}

describe('createSimulatedCloud', () => {
  it('creates one instance of a UID, however often it is asked', () => {
    const { cloud, log } = createBed();
    expect([cloud.create(REQUEST), cloud.create(REQUEST)]).toEqual(['local:///u-1', 'local:///u-1']);
    expect([cloud.list().length, log]).toEqual([1, ['created local:///u-1']]);
    expect(cloud.get('local:///u-1')).toMatchObject({ machine: 'm-1', state: 'Running' });
  });

  it('deletes an instance after a while, and creates none of that UID again', () => {
    const { cloud, clock, log } = createBed();
    const id = cloud.create(REQUEST);
    const endsMs = cloud.delete(id);
    expect([cloud.delete(id), cloud.list().length]).toEqual([endsMs, 1]);
    clock.nowMs = endsMs;
    cloud.step();
    expect([cloud.list(), log]).toEqual([[], [`created ${id}`, `deleting ${id}`]]);
    expect(() => cloud.create(REQUEST)).toThrow('it was deleted');
    expect(cloud.delete(id)).toBe(clock.nowMs);
  });

  it('has hosts that never join, and starts what was stopped', () => {
    const { cloud } = createBed(true);
    const found = cloud.get(cloud.create(REQUEST));
    expect(found?.joinsMs).toBe(NEVER_JOINS);
    if (found) found.state = 'Stopped';
    cloud.start('local:///u-1');
    cloud.start('local:///other');
    expect(cloud.get('local:///u-1')?.state).toBe('Running');
  });
});
