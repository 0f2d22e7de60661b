/**
 * Promotion against the reference model: random commits, faults, restarts, clock jumps and changes of membership, with the
 * invariants of the requirements checked at every write and after every pass.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../support/long.ts';
import { execute } from './model.ts';
import { scenario } from './scenario.ts';

describe('S31–S39 promotion', () => {
  it('keeps its promises at every write, whatever happens', () => {
    fc.assert(
      fc.property(scenario, (each) => {
        expect(execute(each)).toBe('kept');
      }),
      runs(2000, 10_000),
    );
  }, 600_000);
});
