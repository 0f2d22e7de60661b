/** Classes of characters: [a-z], [[:alpha:]], \d, \p{Greek}. */
import { withOtherCases } from './case-fold.ts';
import { type CharSet, codeOf, complementOf, unionOf } from './char-set.ts';
import { PERL_CLASSES, POSIX_CLASSES, unicodeClass } from './named-classes.ts';
import { parseEscape } from './parse-escape.ts';
import type { PatternReader } from './reader.ts';

const BAD_RANGE = 'invalid character class range';

/** The reader is at the opening bracket. */
export function parseBrackets(reader: PatternReader, foldCase: boolean): CharSet {
  const start = reader.position;
  reader.skip(1);
  const isNegated = reader.accept('^');
  const members: CharSet[] = [];
  while (members.length === 0 || reader.peek() !== ']') {
    if (reader.isAtEnd()) throw reader.error('missing closing ]', start);
    members.push(parseMember(reader, { foldCase, start }));
  }
  reader.skip(1);
  const set = unionOf(...members);
  return isNegated ? complementOf(set) : set;
}

interface BracketContext {
  readonly foldCase: boolean;
  /** The position of the opening bracket. */
  readonly start: number;
}

function parseMember(reader: PatternReader, { foldCase, start }: BracketContext): CharSet {
  return (
    parsePosixClass(reader, foldCase) ??
    parseNamedClass(reader, foldCase) ??
    foldedIf(foldCase, parseRange(reader, start))
  );
}

function parseRange(reader: PatternReader, start: number): CharSet {
  const from = reader.position;
  const first = parseClassChar(reader, start);
  // [a-] is a or the hyphen.
  if (reader.peek() !== '-' || reader.peek(1) === ']' || reader.peek(1) === '') return [[first, first]];
  reader.skip(1);
  const last = parseClassChar(reader, start);
  if (last < first) throw reader.error(BAD_RANGE, from);
  return [[first, last]];
}

function parseClassChar(reader: PatternReader, start: number): number {
  if (reader.isAtEnd()) throw reader.error('missing closing ]', start);
  return reader.peek() === '\\' ? parseEscape(reader) : codeOf(reader.take());
}

function parsePosixClass(reader: PatternReader, foldCase: boolean): CharSet | undefined {
  const start = reader.position;
  const found = reader.match(/^\[:(?<name>.*?):\]/s);
  if (!found) return undefined;
  const name = found.groups?.['name'] ?? '';
  const plain = name.replace('^', '');
  if (!Object.hasOwn(POSIX_CLASSES, plain) || name.lastIndexOf('^') > 0) throw reader.error(BAD_RANGE, start);
  return signed(foldedIf(foldCase, POSIX_CLASSES[plain] ?? []), name.startsWith('^'));
}

/** \d and \p{Greek}. Undefined when another escape or none is next. */
export function parseNamedClass(reader: PatternReader, foldCase: boolean): CharSet | undefined {
  if (reader.peek() !== '\\') return undefined;
  const letter = reader.peek(1);
  if (letter === 'p' || letter === 'P') return parseUnicodeClass(reader, foldCase);
  if (!/[dswDSW]/.test(letter)) return undefined;
  reader.skip(2);
  const set = foldedIf(foldCase, PERL_CLASSES[letter.toLowerCase()] ?? []);
  return signed(set, letter !== letter.toLowerCase());
}

function parseUnicodeClass(reader: PatternReader, foldCase: boolean): CharSet {
  const start = reader.position;
  reader.skip(1);
  const isUpper = reader.take() === 'P';
  const name = reader.accept('{') ? reader.takeUntil('}') : reader.take();
  const isNegated = name?.startsWith('^') ?? false;
  const set = name === undefined ? undefined : unicodeClass(isNegated ? name.slice(1) : name);
  if (!set) throw reader.error(BAD_RANGE, start);
  return signed(foldedIf(foldCase, set), isUpper !== isNegated);
}

function foldedIf(foldCase: boolean, set: CharSet): CharSet {
  return foldCase ? withOtherCases(set) : set;
}

function signed(set: CharSet, isNegated: boolean): CharSet {
  return isNegated ? complementOf(set) : set;
}
