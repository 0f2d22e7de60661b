/** A rotation of the authorities of pods while an earlier process of hosting, which was paused between two calls, goes on. */
import { describe, expect, it } from 'vitest';
import type { PlaneDriver } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { createWorkloadDriver } from '../../../../../../src/controllers/hosting/drivers/workload/driver.ts';
import { digestsOf } from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import type { Client } from '../../../../../../src/kube/client/client.ts';
import type { Resource } from '../../../../../../src/kube/objects/object.ts';
import { ApiRefusal } from '../../../../../../src/sim/api-server/refusal.ts';
import type { MemoryHub } from '../../../../../support/hosting/memory-hub.ts';
import {
  ask,
  createdHub,
  keysOf,
  planeIn,
  recordOf,
  rotatingSpec,
  until,
} from '../../../../../support/hosting/rotating-hub.ts';

const LIMIT = 600_000;

interface PausedDriver {
  readonly driver: PlaneDriver;
  readonly release: () => void;
  readonly isHeld: () => boolean;
}

/** Opens the driver of a process that is paused before the first call that is meant. */
async function pausedDriver(
  hub: MemoryHub,
  isMeant: (call: string, resource: Resource) => boolean,
): Promise<PausedDriver> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isHeld = false;
  const client = new Proxy(await hub.api.connection().connect(), {
    get: (target, name: keyof Client) => {
      const call = target[name] as (...args: readonly unknown[]) => unknown;
      return (resource: Resource, ...rest: readonly unknown[]): unknown => {
        if (isHeld || !isMeant(name, resource)) return call.call(target, resource, ...rest);
        isHeld = true;
        return released.then(() => call.call(target, resource, ...rest));
      };
    },
  });
  const driver = createWorkloadDriver({ client, clock: hub.clock, images: async () => hub.images });
  return { driver, release, isHeld: () => isHeld };
}

describe('a rotation of pods beside a process that was paused', { timeout: LIMIT }, () => {
  it('HOS-22 is marked as written only in the phase that the process has written', async () => {
    const { hub, first } = await createdHub();
    await first.stop();
    hub.apply(rotatingSpec('Prepare'));
    let hasApplied = false;
    const paused = await pausedDriver(hub, (call, { kind }) => {
      hasApplied ||= call === 'apply' && kind === 'Secret';
      return hasApplied && call === 'get' && kind === 'ConfigMap';
    });
    const done = paused.driver.rotate?.(planeIn(hub), { id: '2026', phase: 'TrustBoth' });
    await hub.advance(1000);
    expect(paused.isHeld()).toBe(true);
    await hub.start();
    await until(hub, () => hub.made.includes('publish TrustBoth'));
    hub.api.refuse(/^replace Secret kubenode-keys/, new ApiRefusal(500, 'InternalError', 'no leader'));
    await until(hub, () => recordOf(hub).rotation?.phase === 'IssueNew');
    paused.release();
    await done;
    await hub.advance(60_000);
    expect([hub.status()?.caRotation?.step, digestsOf(keysOf(hub))]).toEqual([
      'Prepared',
      recordOf(hub).rotation?.keys?.new,
    ]);
  });

  it('HOS-22 is not ended by a process that was about to end the one before', async () => {
    const { hub, first } = await createdHub();
    await ask(hub, 'Prepare');
    hub.apply(rotatingSpec());
    await until(hub, () => hub.made.includes('publish TrustOld'));
    await first.stop();
    let hasRecorded = false;
    const paused = await pausedDriver(hub, (call, { kind }) => {
      const isNext = hasRecorded && call === 'get';
      hasRecorded ||= call === 'replace' && kind === 'ConfigMap';
      return isNext;
    });
    const done = paused.driver.rotate?.(planeIn(hub), { id: '2026', phase: 'Aborted' });
    await hub.advance(1000);
    expect(paused.isHeld()).toBe(true);
    await hub.start();
    await hub.advance(10_000);
    expect(recordOf(hub).rotation).toBeUndefined();
    await ask(hub, 'Prepare', { id: '2027' });
    const kept = keysOf(hub);
    paused.release();
    await done;
    await hub.advance(10_000);
    expect([hub.status()?.caRotation, recordOf(hub).rotation?.id, keysOf(hub)]).toMatchObject([
      { id: '2027', step: 'Prepared' },
      '2027',
      kept,
    ]);
  });
});
