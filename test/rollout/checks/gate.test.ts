import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  askedDigest,
  type CheckRun,
  countRuns,
  gateResult,
  nextRuns,
} from '../../../src/rollout/checks/gate.ts';
import { checkOf, later, NOW } from '../builders.ts';

const ASKED = askedDigest(checkOf({ name: 'ok' }));

function run(result: 'Passed' | 'Failed' | 'Unknown', at: number): CheckRun {
  return { check: 'ok', asked: ASKED, at: later(at), result, message: result };
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

  it.each([
    ['Waiting after one of three', ['Passed'], 'Waiting'],
    ['Waiting after a failure between', ['Passed', 'Passed', 'Failed', 'Passed', 'Passed'], 'Waiting'],
    ['Waiting after an unknown result between', ['Passed', 'Passed', 'Unknown', 'Passed'], 'Waiting'],
    ['Open after three in a row', ['Failed', 'Unknown', 'Passed', 'Passed', 'Passed'], 'Open'],
  ] as const)('ROL-22 with three consecutive successes is %s', (_, results, expected) => {
    const three = { ...check, consecutiveSuccess: 3 };
    const gates = results.reduce<ReturnType<typeof countRuns>>(
      (counted, result, index) => countRuns(counted, [run(result, index)], [three]),
      [],
    );
    expect(gateResult(gates, [three]).state).toBe(expected);
  });

  it('takes a record of an earlier version, which counted no runs in a row, for one run', () => {
    const recorded = [{ name: 'ok', ranAt: NOW.toISOString(), result: 'Passed', failures: 1 }] as const;
    expect(gateResult(recorded, [check]).state).toBe('Open');
    expect(gateResult(recorded, [{ ...check, consecutiveSuccess: 2 }]).state).toBe('Waiting');
    expect(countRuns(recorded, [run('Passed', 30)], [check])).toMatchObject([
      { consecutive: 2, failures: 1 },
    ]);
  });

  it('ROL-22 counts from zero when a check asks something else under its name, and takes no result of a run before', () => {
    const gates = countRuns([], [run('Failed', 1), run('Failed', 2)], [check]);
    const { builtin: _, ...bare } = check;
    const other = { ...bare, http: { url: 'https://app.example.com/', expectStatus: 200 } };
    expect(countRuns(gates, [run('Passed', 3)], [other])).toEqual([]);
    expect(countRuns(gates, [run('Passed', 3)], [{ ...check, failureLimit: 5 }])).toMatchObject([
      { failures: 2 },
    ]);
  });

  it('ROL-22 never opens over a limit, and never without enough good runs in a row', () => {
    const anyResult = fc.constantFrom('Passed', 'Failed', 'Unknown');
    const anyLimits = fc.record({
      failureLimit: fc.nat(3),
      inconclusiveLimit: fc.nat(3),
      consecutiveSuccess: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(anyResult, { maxLength: 12 }), anyLimits, fc.nat(12), (results, limits, split) => {
        const limited = { ...check, ...limits };
        const runs = results.map((result, index) => run(result, index));
        const gates = countRuns(countRuns([], runs.slice(0, split), [limited]), runs, [limited]);
        const count = (of: string): number => results.filter((each) => each === of).length;
        const last = results.slice(-limits.consecutiveSuccess);
        const isOpen =
          count('Failed') <= limits.failureLimit &&
          count('Unknown') <= limits.inconclusiveLimit &&
          last.length === limits.consecutiveSuccess &&
          last.every((each) => each === 'Passed');
        expect(gateResult(gates, [limited]).state === 'Open').toBe(isOpen);
      }),
    );
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
