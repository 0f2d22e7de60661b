/** The seven comparisons, typed: where the types do not fit there is no answer, never a wrong one. */
import { OPERATORS } from '../api/facts.ts';
import type { Operator, Value } from './compiled-rule.ts';

type Compare = (fact: unknown, value: Value) => boolean | undefined;

export const COMPARISONS: Readonly<Record<Operator, Compare>> = {
  equal: (fact, value) =>
    typeof fact === typeof value && !Array.isArray(value) ? fact === value : undefined,
  in: (fact, value) =>
    Array.isArray(value) && value.some((one) => typeof one === typeof fact)
      ? value.some((one) => one === fact)
      : undefined,
  contains: (fact, value) =>
    Array.isArray(fact) && !Array.isArray(value) ? fact.some((one) => one === value) : undefined,
  lessThan: numbers((fact, value) => fact < value),
  lessThanInclusive: numbers((fact, value) => fact <= value),
  greaterThan: numbers((fact, value) => fact > value),
  greaterThanInclusive: numbers((fact, value) => fact >= value),
};

export const WORDS: Readonly<Record<Operator, string>> = {
  equal: '',
  in: 'one of',
  contains: 'with',
  lessThan: 'below',
  lessThanInclusive: 'at most',
  greaterThan: 'above',
  greaterThanInclusive: 'at least',
};

/** Words of json-rules-engine that look like operators and are none here. */
const NEGATIVE = /^(not[A-Z].*|doesNot.*|ne|!=+)$/;

export function isOperator(word: unknown): word is Operator {
  return OPERATORS.some((operator) => operator === word);
}

export function isNumeric(operator: Operator): boolean {
  return operator.startsWith('lessThan') || operator.startsWith('greaterThan');
}

/** Why a word is no operator, where there is more to say than that. */
export function objectionToOperator(word: string): string | undefined {
  if (word.includes(':')) return 'there are no decorators: write the comparison out';
  if (NEGATIVE.test(word)) {
    return 'there is no negation, as unknown would look like an answer: write the positive list, such as status in ["False", "Unknown"]';
  }
  return undefined;
}

function numbers(holds: (fact: number, value: number) => boolean): Compare {
  return (fact, value) =>
    typeof fact === 'number' && typeof value === 'number' && Number.isFinite(fact)
      ? holds(fact, value)
      : undefined;
}
