/** How many breakages a run has. Each round has a node of its own, so that what the agent leaves alone in one is not in the next. */
import { LONG, SEED } from '../sweep-size.ts';
import type { Breakage } from './breakage.ts';
import { CATALOGUE } from './catalogue.ts';
import { planSequence } from './sequence.ts';

export interface Round {
  readonly title: string;
  readonly sequence: readonly Breakage[];
}

export interface RoundOptions {
  readonly seed: number;
  readonly isLong: boolean;
  /** As CI has it. */
  readonly isShort: boolean;
  /** Breakages by their ids, instead of random ones. */
  readonly only?: readonly string[];
}

const COUNT = 30;
const SHORT_COUNT = 10;
/** About an hour and a half. */
const LONG_ROUNDS = 8;

export function planRounds(options: RoundOptions = optionsOfRun()): readonly Round[] {
  const { seed, isLong, isShort, only } = options;
  if (only) return [{ title: 'chosen breakages of a real node', sequence: only.map(find) }];
  const isFew = isShort && !isLong;
  const count = isFew ? SHORT_COUNT : COUNT;
  // CI waits for none that takes minutes.
  const catalogue = CATALOGUE.filter(({ withinSeconds }) => !isFew || withinSeconds === undefined);
  return Array.from({ length: isLong ? LONG_ROUNDS : 1 }, (_, index) => ({
    title: `${count} random breakages of a real node (seed ${seed + index})`,
    sequence: planSequence(catalogue, { seed: seed + index, count }),
  }));
}

function optionsOfRun(): RoundOptions {
  const only = process.env['KUBENODE_CHAOS']?.split(',').filter(Boolean);
  return { seed: SEED, isLong: LONG, isShort: process.env['CI'] === 'true', ...(only && { only }) };
}

function find(id: string): Breakage {
  const found = CATALOGUE.find((each) => each.id === id);
  if (found) return found;
  throw new Error(`there is no breakage ${id}: choose from ${CATALOGUE.map((each) => each.id).join(', ')}`);
}
