import { describe, expect, it } from 'vitest';
import type { LedgerRule } from '../../../src/api/generated/types.ts';
import {
  type EndedRepair,
  isHeard,
  withNextWave,
  withOutcome,
  withVersion,
} from '../../../src/rollout/rule-waves/progress.ts';
import { NOW } from '../../support/builders.ts';
import { ago, ledgerRule, TERMS } from './builders.ts';

const AT = { inForce: TERMS, now: NOW };
const ISO = NOW.toISOString();
const FIRST = { wave: 1, since: ISO, heardAt: ISO, succeeded: 0, failed: [], moreFailed: 0, terms: TERMS };

function ended(fields: Partial<EndedRepair> = {}): EndedRepair {
  return { machine: 'm-1', digest: 'd-1', outcome: 'Succeeded', hasBegun: true, ...fields };
}

describe('the progress of a rule', () => {
  it.each<
    [name: string, before: Partial<LedgerRule> | undefined, digest: string, expected: Partial<LedgerRule>]
  >([
    ['begins a new rule with wave 1', undefined, 'd-1', { digest: 'd-1', proven: [], ...FIRST }],
    ['begins a change with wave 1', { wave: 3 }, 'd-2', { digest: 'd-2', proven: [], ...FIRST }],
    [
      'soaks after a version that was tried',
      { failed: ['m-1'], endedAt: ago(60) },
      'd-2',
      { digest: 'd-2', proven: [], ...FIRST, opensAt: ago(-1740) },
    ],
    [
      'does not soak after a version that was proven',
      { proven: ['d-1'], endedAt: ago(60) },
      'd-2',
      { digest: 'd-2', proven: ['d-1'], ...FIRST },
    ],
    [
      'takes a revert to a proven version as proven',
      { proven: ['d-0'], failed: ['m-1'] },
      'd-0',
      { digest: 'd-0', proven: ['d-0'], ...FIRST },
    ],
    [
      'keeps the soak over a revert',
      { proven: ['d-1'], opensAt: ago(-900) },
      'd-2',
      { digest: 'd-2', proven: ['d-1'], ...FIRST, opensAt: ago(-900) },
    ],
  ])('R10 the record of a rule %s', (_, before, digest, expected) => {
    expect(withVersion(before && ledgerRule(before), digest, AT)).toEqual(expected);
  });

  it('R10 keeps the record of the version that is known', () => {
    const before = ledgerRule({ wave: 2, succeeded: 1 });
    expect(withVersion(before, 'd-1', AT)).toBe(before);
  });

  it('R10 judges a change of an unproven version by the stricter terms, and of a proven one by those in force', () => {
    const strict = { ...TERMS, soakSeconds: 7200 };
    expect(withVersion(ledgerRule({ terms: strict }), 'd-2', AT).terms).toEqual(strict);
    expect(withVersion(ledgerRule({ terms: strict, proven: ['d-1'] }), 'd-2', AT).terms).toEqual(TERMS);
  });

  it.each<[name: string, repair: Partial<EndedRepair>, expected: Partial<LedgerRule>]>([
    ['counts a success', {}, { succeeded: 1, endedAt: ISO }],
    ['names the machine of a failure', { outcome: 'Failed' }, { failed: ['m-1'], endedAt: ISO }],
    ['takes what is ambiguous for a failure', { outcome: 'Ambiguous' }, { failed: ['m-1'], endedAt: ISO }],
    ['ignores an act that did not begin', { outcome: 'Unused', hasBegun: false }, {}],
    ['puts off the next repair after one that was given up', { outcome: 'Unused' }, { opensAt: ago(-1800) }],
    [
      'takes no proof from another version, and puts off the next repair',
      { digest: 'd-0' },
      { opensAt: ago(-1800) },
    ],
    ['takes no proof from a grant that was rebuilt', { digest: undefined }, { opensAt: ago(-1800) }],
  ])('R10 the record of a rule %s', (_, repair, changes) => {
    expect(withOutcome(ledgerRule(), ended(repair), AT)).toEqual(ledgerRule(changes));
  });

  it('R10 takes a machine that a later rung healed as healed, and a proven version as it is', () => {
    const failed = ledgerRule({ wave: 2, failed: ['m-1', 'm-2'] });
    expect(withOutcome(failed, ended(), AT)).toMatchObject({ succeeded: 1, failed: ['m-2'] });
    const proven = ledgerRule({ proven: ['d-1'] });
    expect(withOutcome(proven, ended({ outcome: 'Failed' }), AT)).toBe(proven);
  });

  it('R10 names at most 64 failed machines, and counts the others', () => {
    const names = Array.from({ length: 64 }, (_, index) => `n-${index}`);
    const full = withOutcome(ledgerRule({ failed: names }), ended({ outcome: 'Failed' }), AT);
    expect([full.failed.length, full.moreFailed]).toEqual([64, 1]);
  });

  it('R10 goes through its waves, and is proven after the last one', () => {
    let rule = ledgerRule({
      proven: ['a', 'b', 'c', 'd'],
      succeeded: 1,
      endedAt: ago(1800),
      opensAt: ago(9),
    });
    for (const wave of [2, 3, 4]) {
      rule = withNextWave(rule, 4, NOW);
      expect(rule).toEqual(ledgerRule({ wave, since: ISO, proven: ['a', 'b', 'c', 'd'] }));
    }
    expect(withNextWave(rule, 4, NOW).proven).toEqual(['b', 'c', 'd', 'd-1']);
  });

  it('is written again after a day, so that a rule that exists keeps its place', () => {
    expect([isHeard({ heardAt: ago(86_399) }, NOW), isHeard({ heardAt: ago(86_400) }, NOW)]).toEqual([
      true,
      false,
    ]);
  });
});
