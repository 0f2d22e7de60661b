/** The seven comparison operators. If the types do not match, the result is undefined, never wrong. */
import { OPERATORS } from '../api/facts.ts';
import type { ComparisonOperator, ComparisonValue } from './compiled-rule.ts';

type Comparison = (fact: unknown, value: ComparisonValue) => boolean | undefined;

export const COMPARISONS: Readonly<Record<ComparisonOperator, Comparison>> = {
  equal: (fact, value) =>
    typeof fact === typeof value && !Array.isArray(value) ? fact === value : undefined,
  in: (fact, value) =>
    Array.isArray(value) && value.some((one) => typeof one === typeof fact)
      ? value.some((one) => one === fact)
      : undefined,
  contains: (fact, value) =>
    Array.isArray(fact) && !Array.isArray(value) ? fact.some((one) => one === value) : undefined,
  lessThan: compareNumbers((fact, value) => fact < value),
  lessThanInclusive: compareNumbers((fact, value) => fact <= value),
  greaterThan: compareNumbers((fact, value) => fact > value),
  greaterThanInclusive: compareNumbers((fact, value) => fact >= value),
};

export const OPERATOR_PHRASES: Readonly<Record<ComparisonOperator, string>> = {
  equal: '',
  in: 'one of',
  contains: 'with',
  lessThan: 'below',
  lessThanInclusive: 'at most',
  greaterThan: 'above',
  greaterThanInclusive: 'at least',
};

/** Negative operators of json-rules-engine, which are not supported here. */
const NEGATIVE = /^(not[A-Z].*|doesNot.*|ne|!=+)$/;

export function isOperator(word: unknown): word is ComparisonOperator {
  return OPERATORS.some((operator) => operator === word);
}

export function isNumeric(operator: ComparisonOperator): boolean {
  return operator.startsWith('lessThan') || operator.startsWith('greaterThan');
}

/** Why a known operator of json-rules-engine is not supported. */
export function unsupportedOperatorReason(word: string): string | undefined {
  if (word.includes(':')) return 'operator decorators are not supported: write the comparison in full';
  if (NEGATIVE.test(word)) {
    return 'negation is not supported, because an unknown value would match: list the matching values, such as status in ["False", "Unknown"]';
  }
  return undefined;
}

function compareNumbers(holds: (fact: number, value: number) => boolean): Comparison {
  return (fact, value) =>
    typeof fact === 'number' && typeof value === 'number' && Number.isFinite(fact)
      ? holds(fact, value)
      : undefined;
}
