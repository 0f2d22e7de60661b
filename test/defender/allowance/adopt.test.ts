import { describe, expect, it } from 'vitest';
import { adoptAllowance } from '../../../src/defender/allowance/adopt.ts';
import { usedOf } from '../../../src/defender/allowance/limits.ts';
import type { ObservedAllowance } from '../../../src/defender/facts/facts.ts';
import { createDraft, type LedgerDraft } from '../../../src/defender/ledger/draft.ts';
import { ago, ledgerSpec, NOW } from '../builders.ts';
import { allowance, fleetAllowance, rebootsLimit } from './builders.ts';

function draftWith(current?: Parameters<typeof allowance>[0]): LedgerDraft {
  return createDraft(ledgerSpec(current ? { allowance: allowance(current) } : {}));
}

describe('adoptAllowance', () => {
  it.each<readonly [string, Parameters<typeof allowance>[0] | undefined, ObservedAllowance, boolean]>([
    ['the first one', undefined, fleetAllowance(), true],
    ['a later one', { seq: 6 }, fleetAllowance({ seq: 7 }), true],
    ['one of a later leader', { epoch: 1, seq: 99 }, fleetAllowance({ epoch: 2, seq: 1 }), true],
    ['not the same one again', { seq: 7 }, fleetAllowance({ seq: 7 }), false],
    ['not an earlier one', { seq: 8 }, fleetAllowance({ seq: 7 }), false],
    ['not one of an earlier leader', { epoch: 3, seq: 1 }, fleetAllowance({ epoch: 2, seq: 99 }), false],
    ['not one of another hub while ours is valid', { seq: 1 }, fleetAllowance({ hub: 'hub-2' }), false],
    ['one of another hub after ours ended', { until: ago(1) }, fleetAllowance({ hub: 'hub-2' }), true],
    ['nothing where none was observed', { seq: 1 }, undefined, false],
  ])('takes over %s', (_, current, observed, isAdopted) => {
    const draft = draftWith(current);
    const before = draft.allowance;
    expect(adoptAllowance(draft, observed, NOW)).toBe(isAdopted);
    const { seq, hub } = typeof observed === 'object' && isAdopted ? observed.spec : (before ?? {});
    expect([draft.allowance?.seq, draft.allowance?.hub]).toEqual([seq, hub]);
  });

  it('takes over everything but whom it is for, and when the hub wrote it', () => {
    const draft = draftWith();
    const until = ago(-600);
    const cause = {
      dimension: 'rule',
      value: 'hang',
      policy: 'fleet',
      until,
      message: 'it failed in a, b',
    } as const;
    const observed = fleetAllowance({ causes: [cause] });
    adoptAllowance(draft, observed, NOW);
    const { cluster, at, ...taken } = observed.spec;
    expect([cluster, at]).toEqual(['prod-1', ago(0)]);
    expect(draft.allowance).toEqual({ ...taken, causes: [cause], adoptedAt: NOW.toISOString() });
  });

  it('keeps what is valid when the object is missing, because the watch of this process may be late', () => {
    const draft = draftWith({});
    expect(adoptAllowance(draft, 'None', NOW)).toBe(false);
    expect(draft.allowance).toBeDefined();
  });

  it('drops what has ended when the object is missing', () => {
    const draft = draftWith({ until: ago(1) });
    expect(adoptAllowance(draft, 'None', NOW)).toBe(true);
    expect(draft.allowance).toBeUndefined();
  });

  it('counts on in a new ledger with what was reported before', () => {
    const limits = [{ id: 'fleet/reboots', share: 2, used: 2, requested: 0 }];
    const draft = draftWith();
    adoptAllowance(draft, fleetAllowance({}, { conditions: [], limits }), NOW);
    expect(usedOf(draft, rebootsLimit(), NOW)).toBe(2);
  });

  it('adds nothing to a ledger that has an allowance', () => {
    const limits = [{ id: 'fleet/reboots', share: 2, used: 2, requested: 0 }];
    const draft = draftWith({ seq: 6 });
    adoptAllowance(draft, fleetAllowance({}, { conditions: [], limits }), NOW);
    expect(usedOf(draft, rebootsLimit(), NOW)).toBe(0);
  });
});
