import { describe, expect, it } from 'vitest';
import { fleetLimitRows } from '../../../src/console/feeds/fleet-limit-rows.ts';
import type { FleetLimitsView } from '../../../src/views/fleet/policy-view.ts';
import { fleetPolicyCard } from '../fixtures.ts';

const POLICY = fleetPolicyCard('fleet');
const UNLIMITED = 'nothing hands out allowances: Lease kubenode-system/fleet-limits was never held';

function rows(view: Partial<FleetLimitsView>, stale?: string, isHubStale = false) {
  const feed = { current: () => ({ policies: [POLICY], ...view }), staleReason: () => stale };
  const { fleetPolicies, notes } = fleetLimitRows(feed, isHubStale);
  return { cards: Object.values(fleetPolicies), notes: Object.values(notes) };
}

describe('fleetLimitRows', () => {
  it('has nothing to show where the context has no limits over clusters', () => {
    expect(fleetLimitRows(undefined, false)).toEqual({ fleetPolicies: {}, notes: {} });
  });

  it('shows each policy, and no note while a process hands out allowances', () => {
    expect(rows({})).toEqual({ cards: [POLICY], notes: [] });
  });

  it('marks what is shown as the last report while no process hands out allowances', () => {
    expect(rows({ unlimited: UNLIMITED })).toEqual({
      cards: [{ ...POLICY, stale: UNLIMITED }],
      notes: [{ text: UNLIMITED, bad: true }],
    });
  });

  it('names what keeps the policies from being read, and keeps the last ones', () => {
    expect(rows({}, 'fleetpolicies is forbidden')).toEqual({
      cards: [{ ...POLICY, stale: 'fleetpolicies is forbidden' }],
      notes: [{ text: 'limits over clusters: fleetpolicies is forbidden', bad: true }],
    });
  });

  it('does not repeat why the hub cannot be read', () => {
    expect(rows({}, 'unreachable', true)).toEqual({ cards: [POLICY], notes: [] });
  });
});
