/**
 * Bounds what one evaluation of an expression costs. Only operators are allowed whose result is not larger than their operands, so that
 * the cost follows from the size of the object: a hostile expression is refused, and never keeps sync busy. Pure.
 */
import type { ASTNode } from '@marcbachmann/cel-js';

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
}

/** The size of an object, as far as the cost depends on it. */
export interface ObjectSize {
  /** The number of items of its longest list or map. */
  readonly longest: number;
  readonly characters: number;
}

/** A step takes some 0.07 µs, so that one evaluation ends within some 0.4 s; a usual one takes some 1,000 steps. */
export const MAX_STEPS = 5_000_000;
/** A comparison reads so many characters in the time of one step. */
const CHARACTERS_A_STEP = 60;
/** A list in an expression has at most so many items. */
export const MAX_LITERAL_ITEMS = 32;
const MAX_LOOPS = 2;

const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter']);
const CONSTANT_METHODS: ReadonlySet<string> = new Set(['startsWith', 'endsWith']);
const READING_METHODS: ReadonlySet<string> = new Set(['size', 'contains']);
const ALLOWED =
  'use comparisons, &&, ||, !, ?:, in, has(), size(), startsWith(), endsWith(), contains(), all(), exists(), exists_one() and filter()';

interface Counter {
  readonly simple: number[];
  readonly heavy: number[];
}

/** Returns the cost of an expression, or its first part that is not allowed. */
export function costOf(ast: ASTNode): ExpressionCost | ExpressionProblem {
  const counter: Counter = { simple: [0, 0, 0], heavy: [0, 0, 0] };
  return count(ast, 0, counter) ?? counter;
}

export function stepsOf({ simple, heavy }: ExpressionCost, { longest, characters }: ObjectSize): number {
  const items = Math.max(longest, MAX_LITERAL_ITEMS);
  const reads = 1 + characters / CHARACTERS_A_STEP;
  return simple.reduce(
    (sum, steps, loops) => sum + (steps + (heavy[loops] ?? 0) * reads) * items ** loops,
    0,
  );
}

function add(counts: number[], loops: number): void {
  counts[loops] = (counts[loops] ?? 0) + 1;
}

function count(node: ASTNode, loops: number, counter: Counter): ExpressionProblem | undefined {
  add(counter.simple, loops);
  switch (node.op) {
    case 'value':
    case 'id':
      return undefined;
    case '.':
      return count(node.args[0], loops, counter);
    case '!_':
    case '-_':
      return count(node.args, loops, counter);
    case '[]':
    case '&&':
    case '||':
    case '?:':
    case 'list':
      return countAll(node.args, loops, counter);
    default:
      return countReading(node, loops, counter);
  }
}

function countReading(node: ASTNode, loops: number, counter: Counter): ExpressionProblem | undefined {
  switch (node.op) {
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case 'in':
      if (!node.args.some(({ op }) => op === 'value')) add(counter.heavy, loops);
      return countAll(node.args, loops, counter);
    case 'call':
      return countCall(node, loops, counter);
    case 'rcall':
      return countMethod(node, loops, counter);
    default:
      return notAllowed(node, node.op);
  }
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
  if (!isLoop && !CONSTANT_METHODS.has(name) && !READING_METHODS.has(name))
    return notAllowed(node, `${name}()`);
  if (isLoop && loops >= MAX_LOOPS) {
    return { message: `more than ${MAX_LOOPS} loops in one another: nest fewer`, position: node.pos };
  }
  if (READING_METHODS.has(name)) add(counter.heavy, loops);
  return count(receiver, loops, counter) ?? countAll(args, isLoop ? loops + 1 : loops, counter);
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
    characters += typeof value === 'string' ? value.length : 1;
    if (typeof value !== 'object' || value === null) continue;
    const items: readonly unknown[] = Object.values(value);
    longest = Math.max(longest, items.length);
    for (const item of items) open.push(item);
  }
  return { longest, characters };
}
