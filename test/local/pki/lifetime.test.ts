import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAuthority, issueCertificate } from '../../../src/local/pki/certificate.ts';
import { renewalReason } from '../../../src/local/pki/inspect.ts';
import { clusterLeaves } from '../../../src/local/pki/leaves.ts';
import { CERTIFICATE_SECONDS, lifeOf, renewBeforeMs } from '../../../src/local/pki/lifetime.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const authority = createAuthority('test', NOW, 3650);

describe('the life of certificates', () => {
  it('is a year, renewed in the last month, without another choice', () => {
    expect(lifeOf(undefined, NOW)).toEqual({
      now: NOW,
      seconds: CERTIFICATE_SECONDS,
      renewAtPercent: undefined,
    });
    expect(renewBeforeMs(lifeOf(undefined, NOW))).toBe(30 * 86_400_000);
    expect(lifeOf({ renewAtPercent: 50 }, NOW).seconds).toBe(CERTIFICATE_SECONDS);
  });

  it.each([
    [3600, 70, 18 * 60_000],
    [3600, 10, 54 * 60_000],
    [CERTIFICATE_SECONDS, 70, 109.5 * 86_400_000],
  ])('of %i s at %i %% is renewed %i ms before its end', (leafLifetimeSeconds, renewAtPercent, expected) => {
    expect(renewBeforeMs(lifeOf({ leafLifetimeSeconds, renewAtPercent }, NOW))).toBe(expected);
  });

  it('HOS-21 never renews what was just issued, with any lifetime, part and time', () => {
    const parts = fc.record({
      leafLifetimeSeconds: fc.integer({ min: 3600, max: CERTIFICATE_SECONDS }),
      renewAtPercent: fc.integer({ min: 10, max: 90 }),
      ms: fc.integer({ min: 0, max: 86_400_000 }),
    });
    const plane = {
      podCIDR: '10.244.0.0/16',
      serviceCIDR: '10.96.0.0/16',
      serviceDomain: 'cluster.local',
      quotaMiB: 64,
      apiServer: {},
      controllerManager: {},
      scheduler: {},
    };
    fc.assert(
      fc.property(parts, ({ ms, ...life }) => {
        const now = new Date(+NOW + ms);
        const leaves = clusterLeaves({ folder: '/pki', name: 'ci', now, plane: { ...plane, ...life } });
        const reasons = leaves.map(({ request }) =>
          renewalReason(issueCertificate(authority, request), authority, request),
        );
        expect(reasons.filter((reason) => reason !== undefined)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
