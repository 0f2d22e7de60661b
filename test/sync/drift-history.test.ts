import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CorrectedDrift } from '../../src/api/generated/types.ts';
import {
  type DriftCorrection,
  driftToRecord,
  joinDrift,
  withCorrection,
} from '../../src/sync/drift-history.ts';
import { later, NOW } from '../rollout/builders.ts';
import { correctionAt } from './drift-builders.ts';

/** `a0 b5 a9`: object a was corrected at 0 s, b at 5 s, and a again at 9 s. */
function historyOf(words: string): CorrectedDrift | undefined {
  return words
    .split(' ')
    .filter(Boolean)
    .map((word) => correctionAt(Number(word.slice(1)), word.slice(0, 1)))
    .reduce<CorrectedDrift | undefined>(withCorrection, undefined);
}

/** `a2@9 b1@5 of 3`: the rows with count and time, and the total. */
function explain(drift: CorrectedDrift | undefined): string {
  const rows = (drift?.objects ?? []).map(
    ({ object, count, correctedAt }) => `${object}${count}@${(Date.parse(correctedAt) - +NOW) / 1000}`,
  );
  return [...rows, `of ${drift?.total ?? 0}`].join(' ');
}

const anyHistory = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(60)), { maxLength: 30 })
  .map((all) => historyOf(all.map(([object, at]) => `${object}${at}`).join(' ')));

describe('withCorrection', () => {
  it.each([
    ['lists a first correction', 'a0', 'a1@0 of 1'],
    ['lists the newest first', 'a0 b5', 'b1@5 a1@0 of 2'],
    ['counts a fight in one row, which moves to the front', 'a0 b5 a9 a9', 'a3@9 b1@5 of 4'],
  ])('%s', (_, corrections, expected) => {
    expect(explain(historyOf(corrections))).toBe(expected);
  });

  it('keeps the time of the first correction, and everything else of the last one', () => {
    const last = { ...correctionAt(9), fields: ['data.b'], managers: ['kubectl-edit'], commit: 'c2' };
    const drift = withCorrection(historyOf('a0'), { ...last, object: 'a' });
    expect(drift.objects).toEqual([{ ...last, object: 'a', since: NOW.toISOString(), count: 2 }]);
  });

  it('lists 20 objects of a storm, and counts all', () => {
    const all: readonly DriftCorrection[] = Array.from({ length: 500 }, (_, index) =>
      correctionAt(index, `Secret web/${index}`),
    );
    const drift = all.reduce<CorrectedDrift | undefined>(withCorrection, undefined);
    expect([drift?.objects?.length, drift?.total]).toEqual([20, 500]);
    expect(drift?.objects?.at(0)?.object).toBe('Secret web/499');
  });
});

describe('joinDrift', () => {
  it.each([
    ['is the only history that there is', '', 'a0', 'a1@0 of 1'],
    ['lists the objects of both', 'a0', 'b5 b6', 'b2@6 a1@0 of 2'],
    ['believes the later correction of an object', 'a0 a9', 'a0', 'a2@9 of 2'],
    ['believes the higher count of a clock that went back', 'a9 a5 a6', 'a9', 'a3@6 of 3'],
    ['believes the row that began later, which may have been dropped before', 'a0 a1 a2', 'a9', 'a1@9 of 3'],
    ['believes the higher count of two at the same time', 'a9 a9', 'a9', 'a2@9 of 2'],
  ])('%s', (_, one, other, expected) => {
    expect(explain(joinDrift(historyOf(one), historyOf(other)))).toBe(expected);
    expect(explain(joinDrift(historyOf(other), historyOf(one)))).toBe(expected);
  });

  it('changes nothing when it is repeated, in any order, and is never longer than the status allows', () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (one, other) => {
        const joined = joinDrift(one, other);
        expect(joinDrift(joined, other)).toEqual(joined);
        expect(joinDrift(one, joined)).toEqual(joined);
        expect(explain(joinDrift(other, one))).toBe(explain(joined));
        expect(joined?.objects?.length ?? 0).toBeLessThanOrEqual(20);
      }),
    );
  });
});

describe('driftToRecord', () => {
  it.each([
    ['nothing while there is nothing', ['', ''], 0, 'of 0'],
    ['the first correction at once', ['', 'a0'], 0, 'a1@0 of 1'],
    ['what is recorded, without an observation', ['a0', ''], 300, 'a1@0 of 1'],
    ['what is recorded, in the minute after the last correction', ['a0', 'a0 b5'], 59, 'a1@0 of 1'],
    ['what was corrected meanwhile, after a minute', ['a0', 'a0 b5'], 60, 'b1@5 a1@0 of 2'],
    ['what is observed, of a record in the future', ['a300', 'b0'], 0, 'a1@300 b1@0 of 1'],
  ] as const)('is %s', (_, [recorded, observed], at, expected) => {
    expect(explain(driftToRecord(historyOf(recorded), historyOf(observed), later(at)))).toBe(expected);
  });

  it('writes a fight of an hour at most twice a minute, and misses none of its corrections', () => {
    let [recorded, observed] = [historyOf(''), historyOf('')];
    const writes: number[] = [];
    for (let second = 0; second <= 3660; second += 1) {
      if (second < 3600) observed = withCorrection(observed, correctionAt(second));
      const next = driftToRecord(recorded, observed, later(second));
      if (next !== recorded) writes.push(second);
      recorded = next;
    }
    const inAMinute = writes.map((from) => writes.filter((at) => at >= from && at < from + 60).length);
    expect(Math.max(...inAMinute)).toBeLessThanOrEqual(2);
    expect(recorded).toMatchObject({ total: 3600, objects: [{ count: 3600 }] });
  });
});
