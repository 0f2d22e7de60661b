import { describe, expect, it } from 'vitest';
import type {
  Breaker,
  DefenderLedgerSpec,
  LedgerBreaker,
  LedgerGrant,
} from '../../../src/api/generated/types.ts';
import { recordOutcome } from '../../../src/defender/breakers/act-outcome.ts';
import { createDraft, type LedgerDraft } from '../../../src/defender/ledger/draft.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, breaker, entry, ledgerSpec, machineFacts, NOW, policy } from '../builders.ts';

type Outcome = NonNullable<LedgerGrant['outcome']>;

const LETTERS: Readonly<Record<string, Outcome>> = {
  F: 'Failed',
  S: 'Succeeded',
  A: 'Ambiguous',
  U: 'Unused',
};
const HALF_OPEN: LedgerBreaker = { state: 'HalfOpen', since: ago(9), trips: 1, probe: 'm-1' };

describe('recordOutcome', () => {
  it.each<[string, Partial<Breaker>, string, string]>([
    [
      'one failed act of risk Machine',
      { type: 'ConsecutiveFailures', count: 1 },
      'F',
      'Open: 1 of the last 1 acts of pool web failed',
    ],
    [
      'an ambiguous one',
      { type: 'ConsecutiveFailures', count: 1 },
      'A',
      'Open: 1 of the last 1 acts of pool web failed',
    ],
    ['good acts', { type: 'ConsecutiveFailures', count: 1 }, 'SSS', 'closed'],
    ['failures with a good one between', { type: 'ConsecutiveFailures', count: 2 }, 'FSF', 'closed'],
    [
      'failures in a row',
      { type: 'ConsecutiveFailures', count: 2 },
      'SFF',
      'Open: 2 of the last 2 acts of pool web failed',
    ],
    [
      'half of the last acts',
      { type: 'FailedActs', count: 4, percent: 50 },
      'SSFF',
      'Open: 2 of the last 4 acts of pool web failed',
    ],
    ['fewer acts than it needs', { type: 'FailedActs', count: 4, percent: 50 }, 'FFF', 'closed'],
    [
      'acts that failed within the period',
      { type: 'FailedActs', count: 3, withinSeconds: 3600 },
      'FSFSF',
      'Open: 3 acts of pool web failed within 3600 s',
    ],
    ['acts that were not used', { type: 'FailedActs', count: 1, withinSeconds: 3600 }, 'UUU', 'closed'],
    ['another type of breaker', { type: 'UnhealthyRatio', count: 1 }, 'FFF', 'closed'],
    ['acts below its risks', { type: 'ConsecutiveFailures', count: 1, risks: ['Machine'] }, 'F', 'closed'],
  ])('R27 judges the outcomes of acts: %s', (_, fields, outcomes, state) => {
    const { draft } = record(outcomes, fields);
    expect(shown(draft)).toBe(state);
  });

  it.each([
    ['S', 'closed'],
    ['F', 'NeedsPerson: probe on m-1: Failed'],
    ['A', 'NeedsPerson: probe on m-1: Ambiguous'],
    ['U', 'HalfOpen: waits for a probe'],
  ])('R18 a probe with outcome %s leaves the breaker %s', (outcome, state) => {
    const tripped = {
      'fleet-default/b/web#trips': { bucketSeconds: 7200, firstBucketAt: ago(900), counts: [1] },
    };
    const { draft } = record(outcome, {}, { breakers: { 'fleet-default/b/web': HALF_OPEN }, rates: tripped });
    expect(shown(draft)).toBe(state);
  });

  it.each([
    ['S', 'HalfOpen: waits for a probe', 1],
    ['SPS', 'HalfOpen: waits for a probe', 2],
    ['SPSPS', 'closed', undefined],
    ['SPF', 'Open: probe on m-1: Failed', undefined],
    ['SPUPSPS', 'closed', undefined],
  ])(
    'R18 closes after three verified probes, one after the other: %s leaves it %s',
    (outcomes, state, verified) => {
      const { draft } = record(outcomes, { probes: 3 }, { breakers: { 'fleet-default/b/web': HALF_OPEN } });
      expect(shown(draft)).toBe(state);
      expect(draft.rates['fleet-default/b/web#probes']?.counts[0]).toBe(verified);
    },
  );

  it('R18 begins with one act at a time when a storm is over, and doubles with each verified act', () => {
    const storm = { type: 'UnhealthyRatio' } as const;
    const allowed = ['S', 'SS', 'SSS', 'SSSF', 'SSSU', 'SSSA', `S${'S'.repeat(8)}`, `S${'S'.repeat(9)}`].map(
      (outcomes) => {
        const { draft } = record(outcomes, storm, { breakers: { 'fleet-default/b/web': HALF_OPEN } });
        return draft.rates['fleet-default/b/web#storm']?.counts[0];
      },
    );
    expect(allowed).toEqual([1, 2, 4, 1, 4, 1, 256, undefined]);
    const failed = record('S', {}, { breakers: { 'fleet-default/b/web': HALF_OPEN } });
    expect(failed.draft.rates).toEqual({});
  });

  it('R18 stays open for longer after each trip, up to four hours', () => {
    const closes = [1, 2, 5, 9].map((trips) => {
      const rates = {
        'fleet-default/b/web#trips': { bucketSeconds: 7200, firstBucketAt: ago(900), counts: [trips - 1] },
      };
      const { draft } = record(
        'F',
        { type: 'ConsecutiveFailures', count: 1, manualAfterTrips: 99 },
        { rates },
      );
      return (Date.parse(draft.breakers['fleet-default/b/web']?.closesAt ?? '') - +NOW) / 1000;
    });
    expect(closes).toEqual([900, 1800, 14_400, 14_400]);
  });

  it('opens nothing for a policy in mode Audit', () => {
    const { draft } = record('F', { type: 'ConsecutiveFailures', count: 1 }, {}, 'Audit');
    expect(shown(draft)).toBe('closed');
  });
});

function record(
  outcomes: string,
  fields: Partial<Breaker>,
  ledger: Partial<DefenderLedgerSpec> = {},
  mode: 'Enforce' | 'Audit' = 'Enforce',
): { readonly draft: LedgerDraft } {
  const name = mode === 'Audit' ? 'audit' : 'fleet-default';
  const policies = preparePolicies([policy({ mode, breakers: [breaker(fields)] }, name)]);
  const draft = createDraft(ledgerSpec(ledger));
  for (const letter of outcomes) {
    if (beginsProbe(draft, letter)) continue;
    const outcome = LETTERS[letter] ?? 'Unused';
    recordOutcome(
      draft,
      { machine: 'm-1', entry: entry('m-1'), outcome, facts: machineFacts('m-1') },
      policies,
      NOW,
    );
  }
  return { draft };
}

/** P: the next probe begins. */
function beginsProbe({ breakers }: LedgerDraft, letter: string): boolean {
  const waiting = breakers['fleet-default/b/web'];
  if (letter === 'P' && waiting) breakers['fleet-default/b/web'] = { ...waiting, probe: 'm-1' };
  return letter === 'P';
}

function shown({ breakers }: LedgerDraft): string {
  const [found] = Object.values(breakers);
  return found
    ? `${found.state}: ${found.evidence ?? (found.probe === undefined ? 'waits for a probe' : found.probe)}`
    : 'closed';
}
