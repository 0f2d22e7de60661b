/**
 * Characters that differ only in case, by Unicode's simple case folding, as Go and JavaScript both use it: k, K and the Kelvin
 * sign are one.
 */
import { type CharRange, type CharSet, codeOf, codesOf, includesChar, unionOf } from './char-set.ts';

const CASED = /\p{Changes_When_Casemapped}/u;
/** No character from here on has a case. */
const FIRST_WITHOUT_CASE = 0x1_ea_00;

let families: ReadonlyMap<number, readonly number[]> | undefined;

export function withOtherCases(set: CharSet): CharSet {
  const ranges = [...caseFamilies()].flatMap(([code, others]) =>
    includesChar(set, code) ? others.map((other): CharRange => [other, other]) : [],
  );
  return unionOf(set, ranges);
}

/** Returns the families of characters that differ in case only. They are built once, when a pattern first ignores case. */
function caseFamilies(): ReadonlyMap<number, readonly number[]> {
  families ??= buildFamilies();
  return families;
}

function buildFamilies(): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  for (let code = 0; code < FIRST_WITHOUT_CASE; code += 1) {
    const char = String.fromCodePoint(code);
    if (CASED.test(char)) join(found, char);
  }
  return found;
}

function join(found: Map<number, number[]>, char: string): void {
  const upper = char.toUpperCase();
  for (const other of [char.toLowerCase(), upper, upper.toLowerCase()]) {
    if (other !== char && isSameFamily(char, other)) unite(found, codeOf(char), codeOf(other));
  }
}

/** Tells whether the two differ in case only. An uppercase of several characters does not count, nor do dotless i and I. */
function isSameFamily(char: string, other: string): boolean {
  return codesOf(other).length === 1 && new RegExp(`^\\u{${codeOf(char).toString(16)}}$`, 'iu').test(other);
}

function unite(found: Map<number, number[]>, a: number, b: number): void {
  const family = [...new Set([...(found.get(a) ?? [a]), ...(found.get(b) ?? [b])])];
  for (const code of family) found.set(code, family);
}
