/** Compiles a CEL expression about an object, and evaluates it within a bounded time. Pure. */
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { messageOf } from '../../../os/errors.ts';
import {
  costOf,
  type ExpressionCost,
  type ExpressionProblem,
  evaluationSteps,
  MAX_LITERAL_ITEMS,
  MAX_STEPS,
  sizeOf,
} from './cost.ts';

export interface Expression {
  /** Returns whether the expression is true for the object; or why it has no answer, as when it reads a field that is missing. */
  evaluate(object: KubeObject): boolean | { readonly because: string };
}

const LIMITS = { maxAstNodes: 500, maxDepth: 50, maxListElements: MAX_LITERAL_ITEMS, maxCallArguments: 4 };
/** The types of a result that can be a boolean: the type of a field is known only when it is read. */
const BOOLEAN: ReadonlySet<string> = new Set(['bool', 'dyn']);
const MAX_TEXT = 160;

/** Returns the expression, or what is wrong with it and where. */
export function compileExpression(text: string): Expression | ExpressionProblem {
  const parsed = parse(text);
  if ('position' in parsed) return parsed;
  const cost = costOf(parsed.ast);
  if ('position' in cost) return cost;
  return typeProblem(parsed) ?? { evaluate: (object) => evaluate(parsed, cost, object) };
}

function parse(text: string): ParseResult | ExpressionProblem {
  const environment = new Environment({ limits: LIMITS }).registerVariable('self', 'dyn');
  try {
    return environment.parse(text);
  } catch (error) {
    return problemOf(error);
  }
}

function typeProblem(parsed: ParseResult): ExpressionProblem | undefined {
  const { valid, type, error } = parsed.check();
  if (!valid) return problemOf(error);
  const found = String(type);
  if (BOOLEAN.has(found)) return undefined;
  return { message: `expected a result that is true or false, got ${found}`, position: 0 };
}

function evaluate(
  parsed: ParseResult,
  cost: ExpressionCost,
  object: KubeObject,
): ReturnType<Expression['evaluate']> {
  const size = sizeOf(object);
  if (evaluationSteps(cost, size) > MAX_STEPS) {
    return {
      because: `it is too costly for an object of ${size.characters} characters with a list of ${size.longest} items: nest fewer loops, and compare with constants`,
    };
  }
  try {
    const result: unknown = parsed({ self: object });
    return typeof result === 'boolean' ? result : { because: `its result is not true or false` };
  } catch (error) {
    return { because: firstLine(error) };
  }
}

function problemOf(error: unknown): ExpressionProblem {
  return { message: firstLine(error), position: startOf(error) };
}

/** The other lines show the expression. */
function firstLine(error: unknown): string {
  return (messageOf(error).split('\n')[0] ?? '').slice(0, MAX_TEXT);
}

function startOf(error: unknown): number {
  if (!(error instanceof Error) || !('range' in error)) return 0;
  const { range } = error as { readonly range?: { readonly start: number } };
  return range?.start ?? 0;
}
