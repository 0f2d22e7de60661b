/** Which breakages one run has, in which order. Pure: the same seed gives the same sequence. */
import { randomFrom } from '../sweep-size.ts';
import type { Breakage, ChaosWord } from './breakage.ts';

/** The agent leaves a path alone after so many corrections in ten minutes, which a run may take. */
const MOST_CORRECTIONS = 3;

export interface SequenceOptions {
  readonly seed: number;
  readonly count: number;
}

/** Each word once before any word comes again. Never breaks what the agent would take for a fight. */
export function planSequence(
  catalogue: readonly Breakage[],
  { seed, count }: SequenceOptions,
): readonly Breakage[] {
  const random = randomFrom(seed);
  const words: readonly ChaosWord[] = [...new Set(catalogue.map(({ word }) => word))];
  const chosen: Breakage[] = [];
  while (chosen.length < count) {
    const before = chosen.length;
    for (const word of shuffled(words, random)) {
      const next = chosen.length < count ? choose(catalogue, { word, chosen, random }) : undefined;
      if (next) chosen.push(next);
    }
    if (chosen.length === before) throw new Error(`no breakage is left after ${before} of ${count}`);
  }
  return chosen;
}

interface Choice {
  readonly word: ChaosWord;
  /** Before it. */
  readonly chosen: readonly Breakage[];
  readonly random: () => number;
}

/** One that did not come yet, if there is one. */
function choose(catalogue: readonly Breakage[], { word, chosen, random }: Choice): Breakage | undefined {
  const fitting = catalogue.filter((each) => each.word === word && fits(each, chosen));
  const fresh = fitting.filter((each) => !chosen.includes(each));
  return pick(fresh.length > 0 ? fresh : fitting, random);
}

function fits({ corrects = [] }: Breakage, chosen: readonly Breakage[]): boolean {
  const all = [...chosen.flatMap((each) => each.corrects ?? []), ...corrects];
  return corrects.every((path) => all.filter((each) => each === path).length <= MOST_CORRECTIONS);
}

function pick<T>(items: readonly T[], random: () => number): T | undefined {
  return items[Math.floor(random() * items.length)];
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const ranked = items.map((item) => ({ item, rank: random() }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ item }) => item);
}
