import { describe, expect, it } from 'vitest';
import {
  assessLease,
  createEmptyLease,
  formatMicroTime,
  LEASES,
  type LeaseAvailability,
  observeLease,
  readLeaseRecord,
  withClaim,
  withoutHolder,
} from '../../../src/kube/leader/record.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

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

describe('withClaim and withoutHolder', () => {
  const now = new Date('2030-01-01T12:00:00Z');

  it('write what readLeaseRecord reads, and keep the epoch on release', () => {
    const claim = { identity: 'a', epoch: 7, leaseSeconds: 15, acquiredAt: now, now };
    const held = withClaim(createEmptyLease({ name: 'a', namespace: 'b' }), claim);
    expect(held).toMatchObject({ apiVersion: 'coordination.k8s.io/v1', kind: LEASES.kind });
    expect(readLeaseRecord(held)).toEqual({ holder: 'a', durationMs: 15_000, epoch: 7 });
    expect(readLeaseRecord(withoutHolder(held, now))).toEqual({
      holder: undefined,
      durationMs: 1000,
      epoch: 7,
    });
  });
});

function lease(resourceVersion: string, uid = 'u'): KubeObject {
  return {
    ...createEmptyLease({ name: 'a' }),
    metadata: { name: 'a', uid, resourceVersion },
  };
}
