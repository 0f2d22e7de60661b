/**
 * Promotion against the reference model: random commits, faults, restarts, clock jumps and membership changes. The invariants
 * of the requirements are checked at every write and after every reconcile.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG, runs } from '../../support/sweep-size.ts';
import { runScenario } from './model/run-scenario.ts';
import { scenario } from './model/scenario.ts';

/** Several times the duration on two idle cores: 15 ms for each run, and as much again for shrinking a failure. */
const TIMEOUT_MS = LONG ? 3_600_000 : 600_000;

describe('S31–S39 hold under random commits, faults, restarts and clock jumps', () => {
  it(
    'violates no requirement at any write',
    () => {
      fc.assert(
        fc.property(scenario, (each) => {
          expect(runScenario(each)).toBe('ok');
        }),
        runs(80, 10_000),
      );
    },
    TIMEOUT_MS,
  );
});
