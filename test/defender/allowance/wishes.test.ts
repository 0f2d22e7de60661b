import { describe, expect, it } from 'vitest';
import type { Denial, DenialCause } from '../../../src/api/grants.ts';
import { createFleetWishes } from '../../../src/defender/allowance/wishes.ts';
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

describe('createFleetWishes', () => {
  it('lists acts that only the fleet denies, since their first denial', async () => {
    const clock = virtualClock();
    const wishes = createFleetWishes(clock);
    const since = clock.now();
    wishes.heard({ request: request('m-1'), answer: denied(FLEET) });
    await clock.advance(60_000);
    wishes.heard({ request: request('m-1'), answer: denied(FLEET) });
    wishes.heard({ request: request('m-2'), answer: denied(FLEET) });
    expect(wishes.of('fleet/reboots')).toEqual({ wanted: 2, since });
    expect(wishes.of('fleet/clusters')).toEqual({ wanted: 0 });
  });

  it('wishes for no share where another limit denies, too', () => {
    const wishes = createFleetWishes(virtualClock());
    wishes.heard({ request: request('m-1'), answer: denied(FLEET, OTHER) });
    wishes.heard({ request: request('m-2'), answer: denied(OTHER) });
    expect(wishes.of('fleet/reboots').wanted).toBe(0);
  });

  it('ends a wish when its act is granted, or is not asked for any more', async () => {
    const clock = virtualClock();
    const wishes = createFleetWishes(clock);
    for (const machine of ['m-1', 'm-2']) wishes.heard({ request: request(machine), answer: denied(FLEET) });
    wishes.heard({ request: request('m-1'), answer: { kind: 'entry', machine: 'm-1', entry: entry('m-1') } });
    expect(wishes.of('fleet/reboots').wanted).toBe(1);
    await clock.advance(300_000);
    expect(wishes.of('fleet/reboots').wanted).toBe(0);
  });

  it('does not hear dry runs', () => {
    const wishes = createFleetWishes(virtualClock());
    wishes.heard({ request: request('m-1', true), answer: denied(FLEET) });
    expect(wishes.of('fleet/reboots').wanted).toBe(0);
  });
});
