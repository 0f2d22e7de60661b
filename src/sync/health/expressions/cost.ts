/**
 * Bounds what one evaluation of an expression costs. Only operators are allowed whose result is not larger than their operands, so that
 * the cost follows from the size of the object: a hostile expression is refused, and never keeps sync busy. Pure.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { isRecord } from '../../../kube/objects/json.ts';

export interface ExpressionProblem {
  readonly message: string;
  /** The index of the first character that is wrong. */
  readonly position: number;
}

/** Counts the steps of an expression by the number of loops around them. */
export interface ExpressionCost {
  /** Steps of constant time. */
  readonly simple: readonly number[];
  /** Steps that may read a whole part of the object, as a comparison of two fields does. */
  readonly heavy: readonly number[];
  /** Steps that may read one text again for each character of another, as a search for a field does. */
  readonly squared: readonly number[];
}

/** The size of an object, as far as the cost depends on it. */
export interface ObjectSize {
  /** The number of items of its longest list or map. */
  readonly longest: number;
  readonly characters: number;
}

/**
 * A step takes some 0.07 µs, so that one evaluation ends within some 0.4 s, and within some 4 s where it is nothing but size() or
 * startsWith() of long texts; a usual one takes some 1,000 steps.
 */
export const MAX_STEPS = 5_000_000;
/** A comparison reads so many characters in the time of one step. */
const CHARACTERS_A_STEP = 60;
/** A search for a text reads so many characters of it in the time in which a comparison reads one. */
const CHARACTERS_A_SEARCH = 30;
/** A comparison of lists or maps takes for each of them at least as long as for so many characters. */
const CHARACTERS_A_LIST = 6;
/** A list in an expression has at most so many items. */
export const MAX_LITERAL_ITEMS = 32;
const MAX_LOOPS = 2;

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const CONSTANT_OPERATORS: ReadonlySet<string> = new Set(['!_', '-_', '[]', '&&', '||', '?:']);
const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter']);
const METHODS: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'size', 'contains']);
const ALLOWED =
  'use comparisons, &&, ||, !, ?:, in, has(), size(), startsWith(), endsWith(), contains(), all(), exists(), exists_one() and filter()';

type Counter = { readonly [step in keyof ExpressionCost]: number[] };

/** Returns the cost of an expression, or its first part that is not allowed. */
export function costOf(ast: ASTNode): ExpressionCost | ExpressionProblem {
  const counter: Counter = { simple: [0, 0, 0], heavy: [0, 0, 0], squared: [0, 0, 0] };
  return count(ast, 0, counter) ?? counter;
}

export function evaluationSteps(
  { simple, heavy, squared }: ExpressionCost,
  { longest, characters }: ObjectSize,
): number {
  const items = Math.max(longest, MAX_LITERAL_ITEMS);
  const reads = 1 + characters / CHARACTERS_A_STEP;
  const total = (counts: readonly number[]): number =>
    counts.reduce((sum, steps, loops) => sum + steps * items ** loops, 0);
  return total(simple) + total(heavy) * reads + total(squared) * reads ** 2;
}

function add(counts: number[], loops: number, steps = 1): void {
  counts[loops] = (counts[loops] ?? 0) + steps;
}

function count(node: ASTNode, loops: number, counter: Counter): ExpressionProblem | undefined {
  add(counter.simple, loops);
  if (node.op === 'value' || node.op === 'id') return undefined;
  if (node.op === '.') return count(node.args[0], loops, counter);
  if (node.op === 'call') return countCall(node, loops, counter);
  if (node.op === 'rcall') return countMethod(node, loops, counter);
  return countOperator(node, loops, counter);
}

function countOperator(node: ASTNode, loops: number, counter: Counter): ExpressionProblem | undefined {
  const operands = [node.args].flat().filter(isNode);
  const fields = operands.filter(({ op }) => op !== 'value');
  // A comparison with a constant reads no more than the constant.
  if (COMPARISONS.has(node.op)) add(counter.heavy, loops, Number(fields.length > 1));
  else if (node.op === 'in') add(counter.heavy, loops);
  // What reads a list reads each of its items, and all of them may be the same large field.
  else if (node.op === 'list') add(counter.heavy, loops, fields.length);
  else if (!CONSTANT_OPERATORS.has(node.op)) return notAllowed(node, node.op);
  return countAll(operands, loops, counter);
}

function isNode(value: unknown): value is ASTNode {
  return isRecord(value) && typeof value['op'] === 'string';
}

function countAll(nodes: readonly ASTNode[], loops: number, counter: Counter): ExpressionProblem | undefined {
  for (const node of nodes) {
    const problem = count(node, loops, counter);
    if (problem) return problem;
  }
  return undefined;
}

function countCall(
  node: Extract<ASTNode, { op: 'call' }>,
  loops: number,
  counter: Counter,
): ExpressionProblem | undefined {
  const [name, args] = node.args;
  if (name !== 'has' && name !== 'size') return notAllowed(node, `${name}()`);
  if (name === 'size') add(counter.heavy, loops);
  return countAll(args, loops, counter);
}

function countMethod(
  node: Extract<ASTNode, { op: 'rcall' }>,
  loops: number,
  counter: Counter,
): ExpressionProblem | undefined {
  const [name, receiver, args] = node.args;
  const isLoop = LOOPS.has(name);
  if (!isLoop && !METHODS.has(name)) return notAllowed(node, `${name}()`);
  if (isLoop && loops >= MAX_LOOPS) {
    return { message: `more than ${MAX_LOOPS} loops in one another: nest fewer`, position: node.pos };
  }
  if (!isLoop) addMethod(node, loops, counter);
  return count(receiver, loops, counter) ?? countAll(args, loops + Number(isLoop), counter);
}

function addMethod(
  { args: [name, , [argument]] }: Extract<ASTNode, { op: 'rcall' }>,
  loops: number,
  counter: Counter,
): void {
  const constant = argument?.op === 'value' ? String(argument.args) : undefined;
  if (name === 'contains' && constant === undefined) add(counter.squared, loops);
  else if (name === 'contains') {
    add(counter.heavy, loops, 1 + Math.floor((constant ?? '').length / CHARACTERS_A_SEARCH));
  } else if (constant === undefined) add(counter.heavy, loops);
}

function notAllowed({ pos }: ASTNode, name: string): ExpressionProblem {
  return { message: `${name} is not supported: ${ALLOWED}`, position: pos };
}

/** Measures an object without recursion: an object may be nested deeply. */
export function sizeOf(object: unknown): ObjectSize {
  let [longest, characters] = [0, 0];
  const open: unknown[] = [object];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) {
      characters += typeof value === 'string' ? value.length : 1;
      continue;
    }
    characters += CHARACTERS_A_LIST;
    const items: readonly unknown[] = Object.values(value);
    longest = Math.max(longest, items.length);
    for (const item of items) open.push(item);
  }
  return { longest, characters };
}
