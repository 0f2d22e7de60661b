/** The database of an etcd of pods: the real controller and the real driver on a hub in memory. */
import { describe, expect, it } from 'vitest';
import type { Hosted } from '../../../../../../src/controllers/hosting/plan/input.ts';
import type { BedProcess } from '../../../../../support/controller/bed.ts';
import { applied, conditionText, found } from '../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { HOSTED } from '../../../../../support/hosting/objects.ts';

const MB = 1e6;
const FULL = { dbBytes: 67 * MB, inUseBytes: 66 * MB, isFull: true };

async function ready(replicas: 1 | 3 = 1): Promise<MemoryHub> {
  return (await started(replicas)).hub;
}

async function started(
  replicas: 1 | 3 = 1,
): Promise<{ readonly hub: MemoryHub; readonly first: BedProcess }> {
  const hosted: Partial<Hosted> = { driver: 'workload', etcd: { ...HOSTED.etcd, replicas, quotaMiB: 64 } };
  const hub = memoryHub([applied({ hosted })], hubImages());
  const first = await hub.start();
  await hub.advance(60_000);
  return { hub, first };
}

function count(hub: MemoryHub, members: number): number {
  return hub.made.filter((line) => line === `defragment ${members}`).length;
}

describe('the database of an etcd of pods', () => {
  it('HOS-33 that is full is named with its sizes, tried every 5 minutes, and takes writes again with room', async () => {
    const hub = await ready();
    expect([conditionText(hub, 'EtcdReady'), count(hub, 1)]).toEqual(['True Ready', 0]);
    hub.etcd.sizes = FULL;
    await hub.advance(120_000);
    expect([conditionText(hub, 'EtcdReady'), count(hub, 1)]).toEqual(['False QuotaExceeded', 1]);
    expect(found(hub)?.status?.hosted?.etcd?.dbBytes).toBe(66 * MB);
    expect(conditionText(hub, 'ControlPlaneStalled')).toBe('False NotStalled');
    hub.etcd.sizes = { ...FULL, inUseBytes: 5 * MB };
    await hub.advance(300_000);
    expect([conditionText(hub, 'EtcdReady'), count(hub, 1)]).toEqual(['True Ready', 2]);
  });

  it('HOS-33 of three members is made smaller at all of them, once an hour where nothing is urgent', async () => {
    const hub = await ready(3);
    hub.etcd.sizes = { dbBytes: 40 * MB, inUseBytes: 10 * MB, isFull: false };
    await hub.advance(30_000);
    expect(count(hub, 3)).toBe(1);
    hub.etcd.sizes = { dbBytes: 40 * MB, inUseBytes: 10 * MB, isFull: false };
    await hub.advance(600_000);
    expect(count(hub, 3)).toBe(1);
  });

  it('HOS-33 is not tried again at once after a crash in the middle, by whichever hosting follows', async () => {
    const { hub, first } = await started();
    hub.etcd.fault = new Error('the process of hosting ended');
    hub.etcd.sizes = FULL;
    await hub.advance(200_000);
    await first.kill();
    await hub.start();
    await hub.advance(60_000);
    expect(count(hub, 1)).toBe(1);
    hub.etcd.fault = undefined;
    hub.etcd.sizes = { ...FULL, inUseBytes: MB };
    await hub.advance(60_000);
    expect([conditionText(hub, 'EtcdReady'), count(hub, 1)]).toEqual(['True Ready', 2]);
  });
});
