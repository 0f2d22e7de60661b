import { describe, expect, it } from 'vitest';
import type { Denial, DenialCause } from '../../../src/api/grants.ts';
import { createShareRequests } from '../../../src/defender/allowance/share-requests.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { ask, entry } from '../builders.ts';

const FLEET: DenialCause = { reason: 'FleetLimit', message: 'no share', key: 'fleet/reboots' };
const OTHER: DenialCause = { reason: 'RateWindow', message: 'too many' };

function denied(
  first: DenialCause,
  ...also: DenialCause[]
): { readonly kind: 'denial'; readonly denial: Denial } {
  return { kind: 'denial', denial: { granted: false, ...first, also } };
}

function request(machine: string, isDryRun = false) {
  return { kind: 'ask', ask: ask({ machine }), ...(isDryRun ? { dryRun: true } : {}) } as const;
}

describe('createShareRequests', () => {
  it('lists acts that only the fleet denies, since their first denial', async () => {
    const clock = virtualClock();
    const requests = createShareRequests(clock);
    const since = clock.now();
    requests.heard({ request: request('m-1'), answer: denied(FLEET) });
    await clock.advance(60_000);
    requests.heard({ request: request('m-1'), answer: denied(FLEET) });
    requests.heard({ request: request('m-2'), answer: denied(FLEET) });
    expect(requests.of('fleet/reboots')).toEqual({ requested: 2, since });
    expect(requests.of('fleet/clusters')).toEqual({ requested: 0 });
  });

  it('requests for no share where another limit denies, too', () => {
    const requests = createShareRequests(virtualClock());
    requests.heard({ request: request('m-1'), answer: denied(FLEET, OTHER) });
    requests.heard({ request: request('m-2'), answer: denied(OTHER) });
    expect(requests.of('fleet/reboots').requested).toBe(0);
  });

  it('ends a request when its act is granted, or is not asked for any more', async () => {
    const clock = virtualClock();
    const requests = createShareRequests(clock);
    requests.heard({ request: request('m-1'), answer: denied(FLEET) });
    requests.heard({ request: request('m-2'), answer: denied(FLEET) });
    requests.heard({
      request: request('m-1'),
      answer: { kind: 'entry', machine: 'm-1', entry: entry('m-1') },
    });
    expect(requests.of('fleet/reboots').requested).toBe(1);
    await clock.advance(300_000);
    expect(requests.of('fleet/reboots').requested).toBe(0);
  });

  it('does not hear dry runs', () => {
    const requests = createShareRequests(virtualClock());
    requests.heard({ request: request('m-1', true), answer: denied(FLEET) });
    expect(requests.of('fleet/reboots').requested).toBe(0);
  });
});
