/** Sets of characters as sorted ranges of code points that do not touch. Pure. */

export type CharRange = readonly [first: number, last: number];
export type CharSet = readonly CharRange[];

const MAX_CODE_POINT = 0x10_ff_ff;

export const ALL_CHARS: CharSet = [[0, MAX_CODE_POINT]];

export function charSet(ranges: readonly CharRange[]): CharSet {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

export function unionOf(...sets: readonly CharSet[]): CharSet {
  return charSet(sets.flat());
}

export function complementOf(set: CharSet): CharSet {
  const gaps: CharRange[] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= MAX_CODE_POINT) gaps.push([next, MAX_CODE_POINT]);
  return gaps;
}

export function includesChar(set: CharSet, code: number): boolean {
  for (const [first, last] of set) {
    if (code <= last) return code >= first;
  }
  return false;
}

/** The only character of the set. */
export function singleChar(set: CharSet): number | undefined {
  const [range] = set;
  return set.length === 1 && range && range[0] === range[1] ? range[0] : undefined;
}

export function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

export function codesOf(text: string): readonly number[] {
  return Array.from(text, codeOf);
}
