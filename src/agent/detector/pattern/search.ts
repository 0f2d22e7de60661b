/**
 * Runs a program over a text: all ways to match at once, so that the time grows with the length of the text and not with the
 * number of ways (Thompson, Pike). The match that Go would find is found: the leftmost one, and of those the preferred one.
 */
import { includesChar } from './char-set.ts';
import type { Instruction, PatternProgram } from './program.ts';
import type { Assertion } from './tree.ts';

/** Where the whole match and each group begin and end; -1 for a group without a part in it. */
export type MatchSlots = readonly number[];

export type SearchResult = MatchSlots | 'NoMatch' | 'TooLong';

interface Thread {
  readonly at: number;
  readonly slots: MatchSlots;
}

export interface SearchLimits {
  /** Bounds the visits of instructions: the same pattern and text give the same answer on each machine. */
  readonly maxSteps: number;
  /** Matches begin there or later. */
  readonly from?: number;
}

export function searchText(program: PatternProgram, text: string, limits: SearchLimits): SearchResult {
  const { maxSteps, from = 0 } = limits;
  if (!text.includes(program.required, from)) return 'NoMatch';
  return new Search(program, text, maxSteps).run(from);
}

class Search {
  readonly #program: PatternProgram;
  readonly #text: string;
  readonly #visited: Int32Array;
  #round = 0;
  #steps: number;
  #found: MatchSlots | undefined;

  constructor(program: PatternProgram, text: string, maxSteps: number) {
    this.#program = program;
    this.#text = text;
    this.#visited = new Int32Array(program.instructions.length).fill(-1);
    this.#steps = maxSteps;
  }

  run(from: number): SearchResult {
    const none: MatchSlots = Array.from({ length: 2 * this.#program.groups + 2 }, () => -1);
    let threads: readonly Thread[] = [];
    for (let position = from; position <= this.#text.length && !this.#isOver(threads); ) {
      if (this.#steps <= 0) return 'TooLong';
      const code = this.#text.codePointAt(position);
      const after = position + (code !== undefined && code > 0xff_ff ? 2 : 1);
      const began = this.#begin(threads, none.with(0, position), position);
      this.#round += 1;
      threads = this.#step(began, code, { position, after });
      position = after;
    }
    return this.#found ?? 'NoMatch';
  }

  #isOver(threads: readonly Thread[]): boolean {
    return threads.length === 0 && this.#found !== undefined;
  }

  /** Only the leftmost match counts: nothing begins after one was found. */
  #begin(threads: readonly Thread[], slots: MatchSlots, position: number): readonly Thread[] {
    if (this.#found) return threads;
    const all = [...threads];
    this.#follow(all, { at: this.#program.start, slots }, position);
    return all;
  }

  /** Every thread consumes the character, in order of preference. The first that matches ends those after it. */
  #step(
    threads: readonly Thread[],
    code: number | undefined,
    { position, after }: { readonly position: number; readonly after: number },
  ): Thread[] {
    const next: Thread[] = [];
    for (const { at, slots } of threads) {
      const instruction = this.#program.instructions[at];
      if (instruction?.op === 'Match') {
        this.#found = slots.with(1, position);
        break;
      }
      if (instruction?.op === 'Chars' && code !== undefined && includesChar(instruction.set, code)) {
        this.#follow(next, { at: instruction.next, slots }, after);
      }
    }
    return next;
  }

  /** Adds the threads that a thread reaches without consuming a character. */
  #follow(threads: Thread[], from: Thread, position: number): void {
    const pending = [from];
    for (let thread = pending.pop(); thread; thread = pending.pop()) {
      if (this.#visited[thread.at] === this.#round) continue;
      this.#visited[thread.at] = this.#round;
      this.#steps -= 1;
      const instruction = this.#program.instructions[thread.at];
      if (instruction) pending.push(...this.#successors(threads, { thread, instruction, position }));
    }
  }

  /** The preferred one comes last, as it is taken first. */
  #successors(
    threads: Thread[],
    { thread, instruction, position }: { thread: Thread; instruction: Instruction; position: number },
  ): readonly Thread[] {
    const { slots } = thread;
    switch (instruction.op) {
      case 'Split':
        return [
          { at: instruction.other, slots },
          { at: instruction.next, slots },
        ];
      case 'Save':
        return [{ at: instruction.next, slots: slots.with(instruction.slot, position) }];
      case 'Assert':
        return this.#holds(instruction.assertion, position) ? [{ at: instruction.next, slots }] : [];
      case 'Chars':
      case 'Match':
      default:
        threads.push(thread);
        return [];
    }
  }

  #holds(assertion: Assertion, position: number): boolean {
    return HOLDS[assertion](this.#text.charAt(position - 1), this.#text.charAt(position));
  }
}

/** Tells whether an assertion holds between two characters, which are empty at the ends of the text. */
const HOLDS: Readonly<Record<Assertion, (before: string, after: string) => boolean>> = {
  BeginText: (before) => before === '',
  EndText: (_, after) => after === '',
  BeginLine: (before) => before === '' || before === '\n',
  EndLine: (_, after) => after === '' || after === '\n',
  WordBoundary: (before, after) => isWordChar(before) !== isWordChar(after),
  NoWordBoundary: (before, after) => isWordChar(before) === isWordChar(after),
};

function isWordChar(char: string): boolean {
  return /^\w$/.test(char);
}
