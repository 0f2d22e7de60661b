/** Compiles a pattern to the instructions of an automaton, in Go's order of preference. Pure. */
import { type CharSet, singleChar } from './char-set.ts';
import {
  type Assertion,
  PatternError,
  type PatternNode,
  type PatternTree,
  type RepeatNode,
  subpatternsOf,
} from './tree.ts';

export type Instruction =
  | { readonly op: 'Chars'; readonly set: CharSet; readonly next: number }
  | { readonly op: 'Assert'; readonly assertion: Assertion; readonly next: number }
  | { readonly op: 'Save'; readonly slot: number; readonly next: number }
  /** The first is preferred. */
  | { readonly op: 'Split'; next: number; other: number }
  | { readonly op: 'Match' };

export interface PatternProgram {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  readonly groups: number;
  /** A text that every match contains: texts without it need no search. May be empty. */
  readonly required: string;
}

/** Each step of a match costs at most one visit of each instruction. */
const MAX_INSTRUCTIONS = 10_000;

export function compileProgram({ root, groups }: PatternTree, text: string): PatternProgram {
  const instructions: Instruction[] = [];

  /** Returns where the code of the node begins. It is written from the end: what follows it is known. */
  function emit(node: PatternNode, next: number): number {
    switch (node.type) {
      case 'Empty':
        return next;
      case 'Chars':
        return add({ op: 'Chars', set: node.set, next });
      case 'Assert':
        return add({ op: 'Assert', assertion: node.assertion, next });
      case 'Group':
        return emitGroup(node.index, node.body, next);
      case 'Concat':
        return node.parts.reduceRight((after, part) => emit(part, after), next);
      case 'Alternate':
        return node.choices
          .map((choice) => emit(choice, next))
          .reduceRight((other, choice) => add({ op: 'Split', next: choice, other }));
      case 'Repeat':
      default:
        return emitRepeat(node, next);
    }
  }

  function emitGroup(index: number, body: PatternNode, next: number): number {
    const inner = emit(body, add({ op: 'Save', slot: 2 * index + 1, next }));
    return add({ op: 'Save', slot: 2 * index, next: inner });
  }

  /** x{2,4} is xx(x(x)?)?, and x{2,} is xx+. */
  function emitRepeat({ body, min, max, greedy }: RepeatNode, next: number): number {
    let start = next;
    let copies = min;
    if (max === Number.POSITIVE_INFINITY) {
      start = min === 0 ? emitStar(body, greedy, next) : emitPlus(body, greedy, next);
      copies = Math.max(0, min - 1);
    } else {
      for (let index = min; index < max; index += 1) start = choose(greedy, emit(body, start), next);
    }
    for (let index = 0; index < copies; index += 1) start = emit(body, start);
    return start;
  }

  /** A body that may be empty is (x+)?, so that an empty turn is tried in its place. */
  function emitStar(body: PatternNode, greedy: boolean, next: number): number {
    if (canBeEmpty(body)) return choose(greedy, emitPlus(body, greedy, next), next);
    const split = add({ op: 'Split', next: -1, other: -1 });
    connect(split, greedy, [emit(body, split), next]);
    return split;
  }

  function emitPlus(body: PatternNode, greedy: boolean, next: number): number {
    const split = add({ op: 'Split', next: -1, other: -1 });
    const start = emit(body, split);
    connect(split, greedy, [start, next]);
    return start;
  }

  function choose(greedy: boolean, body: number, next: number): number {
    const split = add({ op: 'Split', next: -1, other: -1 });
    connect(split, greedy, [body, next]);
    return split;
  }

  function connect(at: number, greedy: boolean, [body, next]: readonly [number, number]): void {
    instructions[at] = greedy ? { op: 'Split', next: body, other: next } : { op: 'Split', next, other: body };
  }

  function add(instruction: Instruction): number {
    if (instructions.length >= MAX_INSTRUCTIONS) throw new PatternError('expression too large', text);
    instructions.push(instruction);
    return instructions.length - 1;
  }

  const start = emit(root, add({ op: 'Match' }));
  return { instructions, start, groups, required: requiredText(root) };
}

function canBeEmpty(node: PatternNode): boolean {
  if (node.type === 'Chars') return false;
  if (node.type === 'Repeat' && node.min === 0) return true;
  if (node.type === 'Alternate') return node.choices.some(canBeEmpty);
  return subpatternsOf(node).every(canBeEmpty);
}

/** The longest sequence of single characters that no match can do without. */
function requiredText(root: PatternNode): string {
  const parts = root.type === 'Concat' ? root.parts : [root];
  let [longest, current] = ['', ''];
  for (const part of parts) {
    const code = part.type === 'Chars' ? singleChar(part.set) : undefined;
    current = code === undefined ? '' : current + String.fromCodePoint(code);
    if (current.length > longest.length) longest = current;
  }
  return longest;
}
