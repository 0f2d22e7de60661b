import { expect, it } from 'vitest';
import { describeTries, runTries } from '../../../../src/agent/component/drift/run-retries.ts';
import type { CorrectionRecord, DriftKind } from '../../../../src/agent/journal/record.ts';

const NOW = new Date('2026-01-01T12:00:00Z');

function started(secondsAgo: number, subject = 'web', kind: DriftKind = 'Run'): CorrectionRecord {
  const at = new Date(NOW.getTime() - secondsAgo * 1000).toISOString();
  return { type: 'Correction', component: 'web', at, subject, kind, total: 1 };
}

function nextInSeconds(tries: number): number {
  const corrections = Array.from({ length: tries }, () => started(0));
  return (runTries(corrections, 'web', NOW).nextAt.getTime() - NOW.getTime()) / 1000;
}

it('AGT-31 starts a unit for ever, three times at once and then with waits of up to a minute', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 32].map(nextInSeconds)).toEqual([
    0, 0, 0, 2, 4, 8, 16, 32, 60, 60, 60,
  ]);
});

it('counts the starts of that unit in the last ten minutes', () => {
  const others = [started(1, 'db'), started(1, 'web', 'Unit'), started(600), started(599)];
  expect(runTries(others, 'web', NOW)).toMatchObject({ tries: 1, since: new Date(NOW.getTime() - 599_000) });
});

it('does not wait for a clock that was set back, and then as before', () => {
  const ahead = [started(-3600), started(-3601), started(-3602)];
  expect(runTries(ahead, 'web', NOW).nextAt).toEqual(NOW);
  const nextAt = new Date(NOW.getTime() + 4000);
  expect(runTries([...ahead, started(0)], 'web', NOW).nextAt).toEqual(nextAt);
});

it('explains a wait', () => {
  const corrections = [started(20), started(15), started(10), started(1)];
  expect(describeTries(runTries(corrections, 'web', NOW))).toBe(
    'started 4 times since 2026-01-01T11:59:40.000Z, the next try is at 2026-01-01T12:00:03.000Z',
  );
});
