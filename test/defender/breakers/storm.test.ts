import { describe, expect, it } from 'vitest';
import { beginCooldown, countInCooldown, stormAllowance } from '../../../src/defender/breakers/storm.ts';
import { createDraft } from '../../../src/defender/ledger/draft.ts';
import {
  breaker,
  decideScene,
  entry,
  ledgerSpec,
  machineFacts,
  machines,
  NOW,
  policy,
  secondsAgo,
} from '../builders.ts';

const STORM = breaker({ name: 'storm', type: 'UnhealthyRatio', per: 'Zone', percent: 20, count: 3 });
const ID = 'fleet-default/storm/a';

describe('the cooldown after a storm', () => {
  it('R18 begins with one act, for a breaker by unhealthy machines only', () => {
    const draft = createDraft(ledgerSpec());
    beginCooldown(draft, ID, { ...STORM, type: 'FailedActs' }, NOW);
    expect(stormAllowance(draft.rates, ID, NOW)).toBeUndefined();
    beginCooldown(draft, ID, STORM, NOW);
    expect(stormAllowance(draft.rates, ID, NOW)).toBe(1);
    expect(draft.changed).toBe(true);
  });

  it('R18 doubles with each verified act, begins again with a failed one, and ends after a day', () => {
    const draft = createDraft(ledgerSpec());
    countInCooldown(draft, ID, 'Succeeded', NOW);
    expect(draft.rates).toEqual({});
    beginCooldown(draft, ID, STORM, secondsAgo(86_400));
    expect(stormAllowance(draft.rates, ID, secondsAgo(1))).toBe(1);
    expect(stormAllowance(draft.rates, ID, NOW)).toBeUndefined();
    beginCooldown(draft, ID, STORM, NOW);
    const allowed = (['Succeeded', 'Succeeded', 'Unused', 'Ambiguous', 'Succeeded'] as const).map(
      (outcome) => {
        countInCooldown(draft, ID, outcome, NOW);
        return stormAllowance(draft.rates, ID, NOW);
      },
    );
    expect(allowed).toEqual([2, 4, 4, 1, 2]);
    for (let act = 0; act < 8; act += 1) countInCooldown(draft, ID, 'Succeeded', NOW);
    expect(draft.rates).toEqual({});
  });

  it.each([
    ['no act', {}, true],
    ['an act of the zone', { 'm-2': entry('m-2') }, false],
    ['an act of the zone on an unknown machine', { gone: entry('gone') }, false],
    ['an act of another zone', { 'b-1': entry('b-1', { keys: { zone: 'b' } }) }, true],
    ['an act without risk', { 'm-2': entry('m-2', { risk: 'None' }) }, true],
    [
      'an act that lapsed before it began',
      { 'm-2': entry('m-2', { state: 'Granted', notAfter: NOW.toISOString() }) },
      true,
    ],
    [
      'an act that was settled',
      { 'm-2': entry('m-2', { state: 'Settled', settledAt: NOW.toISOString() }) },
      true,
    ],
  ])('R18 lets one act begin in the zone beside %s', (_, grants, permitted) => {
    const draft = createDraft(ledgerSpec());
    beginCooldown(draft, ID, STORM, NOW);
    const decision = decideScene({
      policies: [policy({ breakers: [STORM] })],
      machines: [...machines(10), machineFacts('b-1', { zone: 'b' })],
      ledger: { grants, rates: draft.rates },
    });
    expect(decision.permitted || decision.reason).toBe(permitted || 'StormCooldown');
  });
});
