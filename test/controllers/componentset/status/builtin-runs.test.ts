import { describe, expect, it } from 'vitest';
import { builtinRuns } from '../../../../src/controllers/componentset/status/builtin-runs.ts';
import { ROLLOUT } from '../component-set.ts';
import { inputOf, member, type StateParts } from '../rollout/rollout-input.ts';
import { DIFFERS, DONE, FAILED, IN_WORK, STEADY } from './situations.ts';

const LIMITS = { intervalSeconds: 30, failureLimit: 0, inconclusiveLimit: 3, consecutiveSuccess: 1 };
const CHECKS = [
  { name: 'health', builtin: {}, ...LIMITS },
  { name: 'errors', promql: { query: 'up', min: 1 }, ...LIMITS },
];
const AS_BEFORE = { ...DONE, reason: 'UnhealthyBefore', because: 'restarts as before: web/p (4)' };
const UNKNOWN = { ...DONE, step: 'Unknown', because: 'Node b is Unknown' } as const;

describe('builtinRuns', () => {
  it.each<[what: string, b: StateParts, expected: readonly string[]]>([
    ['nothing while a machine is in work', IN_WORK, []],
    ['that every machine is well', DONE, ['health Passed: healthy: 2']],
    [
      'the machine that was unhealthy before',
      AS_BEFORE,
      ['health Passed: healthy: 2; b: restarts as before: web/p (4)'],
    ],
    [
      'one healthy machine beside one that keeps what its host runs',
      DIFFERS,
      ['health Passed: healthy: 1; left as their hosts are: 1'],
    ],
    ['the machine that failed', FAILED, ['health Failed: b: app: probes fail']],
    ['the machine of which nothing is known', UNKNOWN, ['health Unknown: b: Node b is Unknown']],
    ['nothing of a machine that is silent in its update', { ...UNKNOWN, holdsGrant: true }, []],
  ])('ROL-21 finds %s, for builtin checks only', (_, b, expected) => {
    const rollout = { gate: { ...ROLLOUT.gate, checks: CHECKS } };
    const input = inputOf({ members: [member('a', DONE), member('b', b)], rollout });
    const runs = builtinRuns(input, input);
    expect(runs.map(({ name, result, message }) => `${name} ${result}: ${message}`)).toEqual(expected);
  });

  it('ROL-21 tells that a batch in which every host differs proves nothing', () => {
    const rollout = { gate: { ...ROLLOUT.gate, checks: CHECKS } };
    const input = inputOf({ members: [member('a', DIFFERS), member('b', DIFFERS)], rollout });
    expect(builtinRuns(input, input).map(({ message }) => message)).toEqual([
      'healthy: 0; left as their hosts are: 2, so nothing is proven',
    ]);
  });

  it('finds nothing when no batch is open', () => {
    const rollout = { gate: { ...ROLLOUT.gate, checks: CHECKS } };
    const input = inputOf({ members: [member('a', DONE)], rollout, progress: STEADY });
    expect(builtinRuns(input, input)).toEqual([]);
  });
});
