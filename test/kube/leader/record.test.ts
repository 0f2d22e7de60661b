import { describe, expect, it } from 'vitest';
import {
  assessLease,
  createEmptyLease,
  formatMicroTime,
  LEASES,
  type LeaseAvailability,
  observeLease,
  readLeaseRecord,
  releasePatch,
  renewalPatch,
  withClaim,
} from '../../../src/kube/leader/record.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createObjectServer } from '../../support/kube/object-server.ts';

describe('assessLease', () => {
  const candidate = { identity: 'us', attemptedEpoch: 7, leaseMs: 15_000 };
  it.each<
    [
      name: string,
      record: Partial<ReturnType<typeof readLeaseRecord>>,
      nowMs: number,
      want: LeaseAvailability,
    ]
  >([
    [
      'is free when it was never held',
      { holder: undefined, epoch: 0 },
      0,
      { free: true, because: 'never held' },
    ],
    ['is free when it was released', { holder: undefined, epoch: 3 }, 0, { free: true, because: 'released' }],
    ['is held until it expires', {}, 15_999, { free: false, holder: 'them', leftMs: 1 }],
    ['is free once it has expired', {}, 16_000, { free: true, because: 'expired' }],
    [
      'uses the duration that the holder set',
      { durationMs: 60_000 },
      60_999,
      { free: false, holder: 'them', leftMs: 1 },
    ],
    [
      'uses the duration of the candidate when the holder set none',
      { durationMs: undefined },
      15_999,
      { free: false, holder: 'them', leftMs: 1 },
    ],
    [
      'is ours when our last attempt succeeded',
      { holder: 'us', epoch: 7 },
      1000,
      { free: true, because: 'ours' },
    ],
    [
      'is held by another process with our identity',
      { holder: 'us', epoch: 8 },
      1000,
      { free: false, holder: 'us', leftMs: 15_000 },
    ],
  ])('%s', (_, record, nowMs, want) => {
    const full = { holder: 'them', durationMs: 15_000, epoch: 3, ...record };
    expect(assessLease({ record: full, sinceMs: 1000 }, candidate, nowMs)).toEqual(want);
  });
});

describe('formatMicroTime', () => {
  it('writes six fractional digits', () => {
    expect(formatMicroTime(new Date('2030-01-01T12:00:00.120Z'))).toBe('2030-01-01T12:00:00.120000Z');
  });
});

describe('observeLease', () => {
  it.each([
    ['keeps the time of an unchanged version', lease('1'), 1000],
    ['restarts the time for a new version, whichever client wrote it', lease('2'), 5000],
    ['restarts the time for a recreated object', lease('1', 'v'), 5000],
  ])('%s', (_, object, sinceMs) => {
    expect(observeLease(observeLease(undefined, lease('1'), 1000), object, 5000).sinceMs).toBe(sinceMs);
  });
});

describe('withClaim, renewalPatch and releasePatch', () => {
  const now = new Date('2030-01-01T12:00:00Z');
  const claim = { identity: 'a', epoch: 7, leaseSeconds: 15, now };
  const name = { name: 'a', namespace: 'b' };
  const claimed = withClaim(createEmptyLease(name), claim);

  it('write what readLeaseRecord reads, and keep the epoch on release', async () => {
    expect(claimed).toMatchObject({ apiVersion: 'coordination.k8s.io/v1', kind: LEASES.kind });
    expect(readLeaseRecord(claimed)).toEqual({ holder: 'a', durationMs: 15_000, epoch: 7 });
    const server = createObjectServer();
    await server.create(LEASES, claimed);
    expect(readLeaseRecord(await server.patch(LEASES, name, releasePatch(claim)))).toEqual({
      holder: undefined,
      durationMs: 1000,
      epoch: 7,
    });
  });

  it('renew the time, and a duration that another client changed, whatever else it wrote', async () => {
    const server = createObjectServer();
    await server.create(LEASES, claimed);
    await server.patch(LEASES, name, { type: 'merge', body: { spec: { leaseDurationSeconds: 1 } } });
    const later = new Date(now.getTime() + 2000);
    expect(await server.patch(LEASES, name, renewalPatch({ ...claim, now: later }))).toMatchObject({
      spec: {
        leaseDurationSeconds: 15,
        renewTime: '2030-01-01T12:00:02.000000Z',
        acquireTime: '2030-01-01T12:00:00.000000Z',
      },
    });
  });

  it.each([
    ['another process holds it', { holderIdentity: 'b' }],
    ['it is a later term', { leaseTransitions: 8 }],
    ['it was released', { holderIdentity: null }],
  ])('are refused when %s', async (_, spec) => {
    const server = createObjectServer();
    await server.create(LEASES, claimed);
    await server.patch(LEASES, name, { type: 'merge', body: { spec } });
    for (const patch of [renewalPatch(claim), releasePatch(claim)]) {
      await expect(server.patch(LEASES, name, patch)).rejects.toMatchObject({ code: 'Invalid' });
    }
  });
});

function lease(resourceVersion: string, uid = 'u'): KubeObject {
  return {
    ...createEmptyLease({ name: 'a' }),
    metadata: { name: 'a', uid, resourceVersion },
  };
}
