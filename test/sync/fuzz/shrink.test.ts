import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../support/sweep-size.ts';
import { shrink } from './shrink.ts';

const failsWith =
  (needed: readonly number[]) =>
  async (part: readonly number[]): Promise<boolean> =>
    needed.every((each) => part.includes(each));

describe('shrink', () => {
  it('finds the acts without which nothing fails, in their order', async () => {
    const all = Array.from({ length: 20 }, (_, index) => index);
    expect(await shrink(all, { fails: failsWith([3, 17]), maxRuns: 1000 })).toEqual([3, 17]);
  });

  it('returns a sequence that fails, also when the runs are used up', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.nat(29), { maxLength: 4 }),
        fc.nat(20),
        async (length, chosen, maxRuns) => {
          const all = Array.from({ length }, (_, index) => index);
          const needed = chosen.map((each) => each % length);
          let ran = 0;
          const fails = async (part: readonly number[]): Promise<boolean> => {
            ran += 1;
            return failsWith(needed)(part);
          };
          const shrunk = await shrink(all, { fails, maxRuns });
          expect(await failsWith(needed)(shrunk)).toBe(true);
          expect(ran).toBeLessThanOrEqual(maxRuns);
        },
      ),
      runs(100, 2000),
    );
  });
});
