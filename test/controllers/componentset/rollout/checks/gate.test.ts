import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GateRuns } from '../../../../../src/api/generated/types.ts';
import {
  batchGate,
  openCheckText,
  unknownGateReason,
} from '../../../../../src/controllers/componentset/rollout/checks/gate.ts';
import { ago } from '../../../../support/builders.ts';
import { ROLLOUT } from '../../component-set.ts';
import { RolloutSimulation } from '../../simulation/rollout-simulation.ts';
import { askingCheck, BATCH, inputOf, member, NEW, progressOf } from '../rollout-input.ts';

const DONE = { at: NEW, batch: 1 } as const;
const SOAKING = { ...BATCH, settledAt: new Date(ago(60)), soakUntil: new Date(ago(-240)) };
const CHECKS = [
  askingCheck('errors', { failureLimit: 1 }),
  askingCheck('ratio', { promql: { query: 'a{n=~"${rest}"}', max: 2 } }),
];

function situation(gates: readonly GateRuns[], isLast = false): Parameters<typeof batchGate> {
  const rest = isLast ? [member('z', { ...DONE, batch: 0 })] : [member('c')];
  const rollout = { gate: { ...ROLLOUT.gate, checks: CHECKS } };
  const input = inputOf({ members: [member('a', DONE), ...rest], rollout });
  return [input, progressOf({ batch: { ...SOAKING, gates } })];
}

const passed = (name: string): GateRuns => ({ name, result: 'Passed', ranAt: ago(1), message: '0' });
const failed = (failures: number): GateRuns => ({
  name: 'errors',
  result: 'Failed',
  failures,
  message: '7 is above 1',
});
const unknown = (inconclusive: number): GateRuns => ({
  name: 'errors',
  result: 'Unknown',
  inconclusive,
  message: 'no answer',
});

describe('batchGate', () => {
  it.each<[what: string, gates: readonly GateRuns[], expected: string, isLast?: boolean]>([
    ['waits before the first runs', [], 'Waiting'],
    ['waits while one has not run', [passed('errors')], 'Waiting'],
    ['opens when all passed', [passed('errors'), passed('ratio')], 'Open'],
    [
      'waits for a check that is due again',
      [passed('errors'), { ...passed('ratio'), ranAt: ago(30) }],
      'Waiting',
    ],
    [
      'waits for a check that ran in the future',
      [passed('errors'), { ...passed('ratio'), ranAt: ago(-9) }],
      'Waiting',
    ],
    ['opens without a comparison where no machine is left', [passed('errors')], 'Open', true],
    ['waits after a failure within the limit', [failed(1), passed('ratio')], 'Waiting'],
    ['fails over the limit', [failed(2), passed('ratio')], 'Failed'],
    ['has no result over the other limit', [unknown(4), passed('ratio')], 'Inconclusive'],
  ])('ROL-22 judges the open batch: it %s', (_what, gates, expected, isLast) => {
    expect(batchGate(...situation(gates, isLast)).state).toBe(expected);
  });

  it('ROL-21 opens no batch that its checks have not passed, whatever they find', () => {
    const anyResult = fc.constantFrom('Passed', 'Passed', 'Passed', 'Failed', 'Unknown');
    const anyCheck = fc.record({
      failureLimit: fc.nat(3),
      inconclusiveLimit: fc.nat(3),
      consecutiveSuccess: fc.integer({ min: 1, max: 3 }),
      intervalSeconds: fc.constantFrom(10, 30, 90),
    });
    fc.assert(
      fc.property(
        fc.array(anyResult, { minLength: 1, maxLength: 60 }),
        fc.array(anyCheck, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(0, 20, 300),
        (results, limits, soakSeconds) => {
          const checks = limits.map((each, index) => askingCheck(`check-${index}`, each));
          const gate = { soakSeconds, checks, approval: 'None' } as const;
          const sim = new RolloutSimulation({
            machines: 4,
            installed: '1',
            rollout: { batches: [1, 2], gate },
          });
          let runs = 0;
          sim.checkResult = () => results[runs++ % results.length] ?? 'Unknown';
          sim.version('2');
          // The judge of the simulation throws.
          expect(() => sim.run(1800)).not.toThrow();
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('unknownGateReason', () => {
  it('ROL-21 stops for a person, and only while the batch soaks', () => {
    const [input, progress] = situation([unknown(4)]);
    const because = 'check errors: no answer';
    expect(unknownGateReason(input, progress)).toEqual({ reason: 'GateInconclusive', because });
    expect(unknownGateReason(...situation([unknown(3)]))).toBeUndefined();
    expect(unknownGateReason(...situation([failed(2)]))).toBeUndefined();
    const { soakUntil: _, ...batch } = { ...SOAKING, gates: [unknown(4)] };
    expect(unknownGateReason(input, progressOf({ batch }))).toBeUndefined();
  });
});

describe('openCheckText', () => {
  it('names the first check that did not pass, with its limit', () => {
    expect(openCheckText(...situation([failed(1)]))).toBe(
      'check errors: 7 is above 1 (failed runs: 1, allowed: 1)',
    );
    expect(openCheckText(...situation([passed('errors'), { ...unknown(2), name: 'ratio' }]))).toBe(
      'check ratio: no answer (runs without a result: 2, allowed: 3)',
    );
    expect(openCheckText(...situation([passed('errors')]))).toBeUndefined();
    expect(openCheckText(...situation([{ ...failed(1), name: 'ratio' }], true))).toBeUndefined();
  });
});
