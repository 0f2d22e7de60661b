/** How many line breaks a match of a pattern can contain: a search to the end of a text needs no more lines than that. Pure. */
import { includesChar } from './char-set.ts';
import { type PatternNode, subpatternsOf } from './tree.ts';

const LINE_BREAK = 0x0a;

/** Infinity also for a pattern that may match before the end of the text, as each choice but the last one of `a|b\z`. */
export function maxNewlinesToEnd(root: PatternNode): number {
  const last = root.type === 'Concat' ? root.parts.at(-1) : root;
  const isToEnd = last?.type === 'Assert' && last.assertion === 'EndText';
  return isToEnd ? maxNewlines(root) : Number.POSITIVE_INFINITY;
}

export function maxNewlines(node: PatternNode): number {
  if (node.type === 'Chars') return includesChar(node.set, LINE_BREAK) ? 1 : 0;
  const parts = subpatternsOf(node).map(maxNewlines);
  if (node.type === 'Alternate') return Math.max(0, ...parts);
  const sum = parts.reduce((all, part) => all + part, 0);
  return node.type === 'Repeat' && sum > 0 ? sum * node.max : sum;
}
