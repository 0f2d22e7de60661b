/** How often something is repeated: *, +, ?, {2,5}. */
import type { PatternReader } from './reader.ts';
import { type PatternNode, type RepeatNode, subpatternsOf } from './tree.ts';

/** Go permits as many repetitions. */
const MAX_REPEAT = 1000;

type RepeatLimits = Pick<RepeatNode, 'min' | 'max'>;

const SIMPLE: Readonly<Record<string, RepeatLimits>> = {
  '*': { min: 0, max: Number.POSITIVE_INFINITY },
  '+': { min: 1, max: Number.POSITIVE_INFINITY },
  '?': { min: 0, max: 1 },
};

/** Reads a repetition. Undefined when something else is next: a brace that begins no repetition is a brace. */
export function parseRepetition(reader: PatternReader): RepeatLimits | undefined {
  const char = reader.peek();
  if (!Object.hasOwn(SIMPLE, char)) return parseCounted(reader);
  reader.skip(1);
  return SIMPLE[char];
}

function parseCounted(reader: PatternReader): RepeatLimits | undefined {
  const start = reader.position;
  const found = reader.match(/^\{(?<least>0|[1-9]\d*)(?<range>,(?:0|[1-9]\d*)?)?\}/);
  if (!found) return undefined;
  const { least, range } = found.groups ?? {};
  const min = Number(least);
  const max = range === undefined ? min : Number(range.slice(1) || Number.POSITIVE_INFINITY);
  if (min > max || largest({ min, max }) > MAX_REPEAT) throw reader.error('invalid repeat count', start);
  return { min, max };
}

function largest({ min, max }: RepeatLimits): number {
  return max === Number.POSITIVE_INFINITY ? min : max;
}

/** Whether repetitions inside of each other multiply to at most the limit of one. */
export function checkRepetitions(node: PatternNode, allowed = MAX_REPEAT): boolean {
  if (node.type === 'Repeat' && node.max === 0) return true;
  const times = node.type === 'Repeat' ? Math.max(1, largest(node)) : 1;
  if (times > allowed) return false;
  return subpatternsOf(node).every((child) => checkRepetitions(child, Math.floor(allowed / times)));
}
