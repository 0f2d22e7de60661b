/**
 * Promotion against the reference model: random commits, faults, restarts, clock jumps and changes of membership, with the
 * invariants of the requirements checked at every write and after every pass.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG, runs } from '../../support/sweep-size.ts';
import { execute } from './model/run-scenario.ts';
import { scenario } from './model/scenario.ts';

/** Several times what it takes on two quiet cores: 15 ms a run, and as much again for the search for the smallest failure. */
const TIMEOUT_MS = LONG ? 3_600_000 : 600_000;

describe('S31–S39 hold under random commits, faults, restarts and clock jumps', () => {
  it(
    'keeps its promises at every write, whatever happens',
    () => {
      fc.assert(
        fc.property(scenario, (each) => {
          expect(execute(each)).toBe('kept');
        }),
        runs(2000, 10_000, 200),
      );
    },
    TIMEOUT_MS,
  );
});
