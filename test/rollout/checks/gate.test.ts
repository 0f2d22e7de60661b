import { describe, expect, it } from 'vitest';
import { type CheckRun, countRuns, gateResult, nextRuns } from '../../../src/rollout/checks/gate.ts';
import { checkOf, later, NOW } from '../builders.ts';

function run(result: 'Passed' | 'Failed' | 'Unknown', at: number): CheckRun {
  return { check: 'ok', at: later(at), result, message: result };
}

describe('a gate', () => {
  const check = checkOf({ name: 'ok', failureLimit: 1, inconclusiveLimit: 1 });

  it.each([
    ['Waiting before the first run', [], 'Waiting'],
    ['Open after a run that passed', ['Passed'], 'Open'],
    ['Waiting after a last failure within the limit', ['Passed', 'Failed'], 'Waiting'],
    ['Open after a failure within the limit and a run that passed', ['Failed', 'Passed'], 'Open'],
    ['Failed after more failures than the limit', ['Failed', 'Passed', 'Failed'], 'Failed'],
    ['Waiting after an unknown result within the limit', ['Passed', 'Unknown'], 'Waiting'],
    [
      'Inconclusive after more unknown results than the limit',
      ['Unknown', 'Passed', 'Unknown'],
      'Inconclusive',
    ],
    ['Failed after more of both than the limits', ['Unknown', 'Unknown', 'Failed', 'Failed'], 'Failed'],
  ] as const)('is %s', (_, results, expected) => {
    const gates = countRuns(
      [],
      results.map((result, index) => run(result, index)),
      [check],
    );
    expect(gateResult(gates, [check]).state).toBe(expected);
  });

  it('counts the same run once, in any order', () => {
    const once = countRuns([], [run('Failed', 2), run('Failed', 1)], [check]);
    expect(countRuns(once, [run('Failed', 1), run('Failed', 2)], [check])).toEqual(once);
    expect(once[0]?.failures).toBe(2);
  });

  it('forgets removed checks, and is Open without checks', () => {
    const gates = countRuns([], [run('Failed', 1)], [check]);
    expect(countRuns(gates, [], [])).toEqual([]);
    expect(gateResult([], []).state).toBe('Open');
  });

  it('runs a check at once, and then at its interval', () => {
    expect(nextRuns([], [check], NOW)).toEqual([{ check: 'ok', at: NOW }]);
    expect(nextRuns(countRuns([], [run('Passed', 0)], [check]), [check], later(10))).toEqual([
      { check: 'ok', at: later(30) },
    ]);
  });
});
