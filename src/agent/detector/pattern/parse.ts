/**
 * Parses a regular expression in the syntax of Go (RE2): what Go accepts is accepted, and what it refuses is refused, such as a
 * lookahead, a backreference or a possessive repetition.
 */
import { withOtherCases } from './case-fold.ts';
import { ALL_CHARS, type CharSet, codeOf, codesOf, complementOf } from './char-set.ts';
import { parseBrackets, parseNamedClass } from './parse-class.ts';
import { parseEscape } from './parse-escape.ts';
import { PatternReader } from './reader.ts';
import { checkRepetitions, parseRepetition } from './repetition.ts';
import type { Assertion, PatternNode, PatternTree } from './tree.ts';

interface Flags {
  readonly foldCase: boolean;
  readonly multiLine: boolean;
  readonly dotNewline: boolean;
  readonly swapGreed: boolean;
}

/** A group that is not closed yet. */
interface OpenGroup {
  /** 0 for a group that does not capture. */
  readonly index: number;
  readonly position: number;
  /** The flags that are in force after the group. */
  readonly outerFlags: Flags;
  readonly choices: PatternNode[];
  sequence: PatternNode[];
}

const NO_FLAGS: Flags = { foldCase: false, multiLine: false, dotNewline: false, swapGreed: false };
const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = {
  i: 'foldCase',
  m: 'multiLine',
  s: 'dotNewline',
  U: 'swapGreed',
};
const ESCAPED_ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'BeginText',
  b: 'WordBoundary',
  B: 'NoWordBoundary',
  z: 'EndText',
};
const NOT_NEWLINE = complementOf([[10, 10]]);
/** Go has the same limit: deeper groups could exhaust the stack. */
const MAX_DEPTH = 1000;

export function parsePattern(text: string): PatternTree {
  return new PatternParser(text).parse();
}

class PatternParser {
  readonly #reader: PatternReader;
  #flags = NO_FLAGS;
  #groups = 0;
  #open: OpenGroup[] = [];
  #current: OpenGroup = this.#newGroup(0, 0);
  /** Where the repetition began that was read last; undefined after anything else. */
  #repetition: number | undefined;

  constructor(text: string) {
    this.#reader = new PatternReader(text);
  }

  parse(): PatternTree {
    while (!this.#reader.isAtEnd()) {
      if (!this.#parseRepetition()) this.#parseItem();
    }
    const root = this.#current;
    const unclosed = this.#open.length > 0;
    if (unclosed) throw this.#reader.error('missing closing )', root.position);
    return { root: closed(root), groups: this.#groups };
  }

  #newGroup(index: number, position: number): OpenGroup {
    return { index, position, outerFlags: this.#flags, choices: [], sequence: [] };
  }

  #parseItem(): void {
    this.#repetition = undefined;
    const char = this.#reader.peek();
    if (char === '(') this.#openGroup();
    else if (char === ')') this.#closeGroup();
    else if (char === '|') this.#nextChoice();
    else if (char === '[') this.#push(chars(parseBrackets(this.#reader, this.#flags.foldCase)));
    else if (char === '\\') this.#push(...this.#parseBackslash());
    else this.#push(this.#parseChar());
  }

  #push(...nodes: readonly PatternNode[]): void {
    this.#current.sequence.push(...nodes);
  }

  #parseChar(): PatternNode {
    const { multiLine, dotNewline } = this.#flags;
    const char = this.#reader.take();
    if (char === '.') return chars(dotNewline ? ALL_CHARS : NOT_NEWLINE);
    if (char === '^') return assert(multiLine ? 'BeginLine' : 'BeginText');
    if (char === '$') return assert(multiLine ? 'EndLine' : 'EndText');
    return this.#literal(codeOf(char));
  }

  #parseBackslash(): readonly PatternNode[] {
    const reader = this.#reader;
    const assertion = ESCAPED_ASSERTIONS[reader.peek(1)];
    if (assertion) {
      reader.skip(2);
      return [assert(assertion)];
    }
    if (reader.accept('\\Q')) {
      const text = reader.takeUntil('\\E') ?? reader.rest();
      return codesOf(text).map((code) => this.#literal(code));
    }
    const set = parseNamedClass(reader, this.#flags.foldCase);
    return [set ? chars(set) : this.#literal(parseEscape(reader))];
  }

  #literal(code: number): PatternNode {
    const set: CharSet = [[code, code]];
    return chars(this.#flags.foldCase ? withOtherCases(set) : set);
  }

  #openGroup(): void {
    const reader = this.#reader;
    const start = reader.position;
    if (!reader.startsWith('(?')) {
      reader.skip(1);
      return this.#begin(this.#nextIndex(), start);
    }
    if (reader.match(/^\(\?P?<[0-9A-Za-z_]+>/)) return this.#begin(this.#nextIndex(), start);
    const found = reader.match(/^\(\?(?<on>[imsU]*)(?:-(?<off>[imsU]+))?(?<end>[:)])/);
    if (!found) {
      reader.skip(2);
      reader.take();
      throw reader.error('invalid or unsupported Perl syntax', start);
    }
    const { on = '', off = '', end } = found.groups ?? {};
    if (end === ':') this.#begin(0, start);
    this.#flags = { ...this.#flags, ...flagsOf(on, true), ...flagsOf(off, false) };
  }

  #nextIndex(): number {
    this.#groups += 1;
    return this.#groups;
  }

  #begin(index: number, position: number): void {
    this.#open.push(this.#current);
    this.#current = this.#newGroup(index, position);
    if (this.#open.length > MAX_DEPTH) throw this.#reader.error('expression nests too deeply', position);
  }

  #closeGroup(): void {
    const start = this.#reader.position;
    this.#reader.skip(1);
    const group = this.#current;
    const outer = this.#open.pop();
    if (!outer) throw this.#reader.error('unexpected )', start);
    const body = closed(group);
    this.#flags = group.outerFlags;
    this.#current = outer;
    this.#push(group.index === 0 ? body : { type: 'Group', index: group.index, body });
  }

  #nextChoice(): void {
    this.#reader.skip(1);
    this.#current.choices.push(concat(this.#current.sequence));
    this.#current.sequence = [];
  }

  /** Whether a repetition was next. It is for the last thing only: of `ab*`, for b. */
  #parseRepetition(): boolean {
    const reader = this.#reader;
    const start = reader.position;
    const limits = parseRepetition(reader);
    if (!limits) return false;
    const isLazy = reader.accept('?');
    if (this.#repetition !== undefined) {
      throw reader.error('invalid nested repetition operator', this.#repetition);
    }
    const body = this.#current.sequence.pop();
    if (!body) throw reader.error('missing argument to repetition operator', start);
    const node = { type: 'Repeat', body, ...limits, greedy: isLazy === this.#flags.swapGreed } as const;
    if (!checkRepetitions(node)) throw reader.error('invalid repeat count', start);
    this.#push(node);
    this.#repetition = start;
    return true;
  }
}

function flagsOf(names: string, value: boolean): Partial<Flags> {
  const named = Object.entries(FLAG_NAMES).filter(([letter]) => names.includes(letter));
  return Object.fromEntries(named.map(([, flag]) => [flag, value] as const));
}

function closed({ choices, sequence }: OpenGroup): PatternNode {
  if (choices.length === 0) return concat(sequence);
  return { type: 'Alternate', choices: [...choices, concat(sequence)] };
}

function concat(parts: readonly PatternNode[]): PatternNode {
  const [only] = parts;
  if (!only) return { type: 'Empty' };
  return parts.length === 1 ? only : { type: 'Concat', parts };
}

function chars(set: CharSet): PatternNode {
  return { type: 'Chars', set };
}

function assert(assertion: Assertion): PatternNode {
  return { type: 'Assert', assertion };
}
