import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec } from '../../../../src/api/generated/types.ts';
import { createDraft } from '../../../../src/defender/ledger/draft.ts';
import { correctFutureTimes } from '../../../../src/defender/ledger/upkeep/clock-jumps.ts';
import { ago, entry, ledgerSpec, NOW } from '../../builders.ts';

const DAY = 86_400;
const AT_NOW = NOW.toISOString();
const ANSWER = { action: 'Drain', holder: 'j', decision: 'Approved', by: 'ann' } as const;
const settled = (settledAt: string) => entry('m-1', { state: 'Settled', settledAt, outcome: 'Succeeded' });
const rate = (seconds: number, ...counts: readonly number[]) => ({
  'p/r/k': { bucketSeconds: 300, firstBucketAt: new Date(+NOW + seconds * 1000).toISOString(), counts },
});

describe('correctFutureTimes', () => {
  it.each<[string, Partial<DefenderLedgerSpec>, Partial<DefenderLedgerSpec>]>([
    [
      'a settled act lingers from now',
      { grants: { 'm-1': settled(ago(-DAY)) } },
      { grants: { 'm-1': settled(AT_NOW) } },
    ],
    [
      'a breaker closes after its cooldown',
      { breakers: { b: { state: 'Open', since: ago(-DAY), closesAt: ago(-DAY - 900), trips: 1 } } },
      {
        breakers: {
          b: { state: 'Open', since: AT_NOW, closesAt: new Date(+NOW + 900_000).toISOString(), trips: 1 },
        },
      },
    ],
    [
      'an answer ends after its time',
      { approvals: { m: { ...ANSWER, at: ago(-DAY), until: ago(-DAY - 60) } } },
      { approvals: { m: { ...ANSWER, at: AT_NOW, until: new Date(+NOW + 60_000).toISOString() } } },
    ],
    ['acts of a limit leave its window', { rates: rate(DAY, 3, 1) }, { rates: rate(-300, 3, 1) }],
    [
      'a recovery ends',
      { recovering: true, recoveringSince: ago(-DAY) },
      { recovering: true, recoveringSince: AT_NOW },
    ],
  ])('R16 after a clock that went back, %s', (_, before, after) => {
    const draft = createDraft(ledgerSpec(before));
    expect(correctFutureTimes(draft, NOW)).toBe(true);
    expect(draft).toEqual({ ...ledgerSpec(after), changed: false });
    expect(correctFutureTimes(draft, NOW)).toBe(false);
  });

  it('changes nothing within the difference of two clocks', () => {
    const spec = {
      grants: { 'm-1': settled(ago(-30)) },
      breakers: { b: { state: 'Open', since: ago(-30), closesAt: ago(-930), trips: 1 } },
      rates: rate(30, 1),
    } as const;
    const draft = createDraft(ledgerSpec(spec));
    expect(correctFutureTimes(draft, NOW)).toBe(false);
    expect(draft).toEqual({ ...ledgerSpec(spec), changed: false });
  });
});
