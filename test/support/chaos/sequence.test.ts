import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../sweep-size.ts';
import { type Breakage, CHAOS_WORDS } from './breakage.ts';
import { CATALOGUE } from './catalogue.ts';
import { planSequence } from './sequence.ts';

const seeds = fc.integer({ min: 1, max: 2 ** 31 });

function idsOf(sequence: readonly Breakage[]): readonly string[] {
  return sequence.map(({ id }) => id);
}

describe('the catalogue', () => {
  it('has each word, and each breakage once', () => {
    expect(new Set(CATALOGUE.map(({ word }) => word))).toEqual(new Set(CHAOS_WORDS));
    expect(new Set(idsOf(CATALOGUE)).size).toBe(CATALOGUE.length);
    for (const { id, word } of CATALOGUE) expect(id.startsWith(word)).toBe(true);
  });

  it('has for each breakage that is left to a person what that person does', () => {
    const reported = CATALOGUE.filter(({ ends, isCut }) => ends === 'Report' || isCut);
    expect(reported.filter(({ remedy }) => remedy === undefined)).toEqual([]);
  });
});

describe('a sequence', () => {
  it('is the same for the same seed, and another one for another seed', () => {
    const [first, same, other] = [7, 7, 8].map((seed) => idsOf(planSequence(CATALOGUE, { seed, count: 30 })));
    expect(same).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it('has every word once before any comes again, and as many breakages as asked for', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 30 }), (seed, count) => {
        const words = planSequence(CATALOGUE, { seed, count }).map(({ word }) => word);
        expect(words).toHaveLength(count);
        const first = words.slice(0, CHAOS_WORDS.length);
        expect(new Set(first).size).toBe(first.length);
      }),
      runs(50, 2000),
    );
  });

  it('has the agent correct no path more often than it does before it leaves that path', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const times = new Map<string, number>();
        for (const { corrects = [] } of planSequence(CATALOGUE, { seed, count: 30 })) {
          for (const path of corrects) times.set(path, (times.get(path) ?? 0) + 1);
        }
        expect(Math.max(...times.values())).toBeLessThanOrEqual(3);
      }),
      runs(50, 2000),
    );
  });

  it('refuses a number for which there are not enough breakages', () => {
    const [one] = CATALOGUE.filter(({ id }) => id === 'drop-in-other-program');
    const plan = (count: number): readonly Breakage[] => planSequence(one ? [one] : [], { seed: 1, count });
    expect(idsOf(plan(1))).toEqual(['drop-in-other-program']);
    expect(() => plan(2)).toThrow('no breakage is left after 1 of 2');
  });
});
