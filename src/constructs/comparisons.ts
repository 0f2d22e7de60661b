/** The comparisons of each field of a fact, typed by the fields that src/rules/facts declares. */
import type { FactKind } from '../rules/facts/fact.ts';
import type { FactParams, TypedFields } from '../rules/facts/field.ts';
import type { Expr } from './generated/types.ts';

export interface ValueComparisons<V> {
  /** Holds if the field has this value. */
  is(value: V): Expr;
  /** Holds if the field has one of these values. */
  in(...values: readonly [V, V, ...V[]]): Expr;
}

export interface NumberComparisons extends ValueComparisons<number> {
  atLeast(bound: number): Expr;
  atMost(bound: number): Expr;
  above(bound: number): Expr;
  below(bound: number): Expr;
}

export type FlagComparisons = Pick<ValueComparisons<boolean>, 'is'>;

type FieldComparisons<F> = F extends { readonly type: 'number' }
  ? NumberComparisons
  : F extends { readonly type: 'boolean' }
    ? FlagComparisons
    : ValueComparisons<F extends { readonly values: readonly (infer V)[] } ? V : string>;

/** By name of each field of the fact. */
export type FactComparisons<K extends FactKind> =
  K['fields'] extends TypedFields<infer F> ? { readonly [N in keyof F]: FieldComparisons<F[N]> } : never;

/** A comparison without a parameter reads a fact of the whole node. */
export function compareFact<K extends FactKind>(kind: K, params?: FactParams): FactComparisons<K> {
  const fact = { fact: kind.name as NonNullable<Expr['fact']>, ...(params && { params }) };
  const fields = [...kind.fields.keys()].map((name) => [name, compareField({ ...fact, path: `$.${name}` })]);
  return Object.freeze(Object.fromEntries(fields)) as FactComparisons<K>;
}

function compareField(
  leaf: Pick<Expr, 'fact' | 'params' | 'path'>,
): NumberComparisons & ValueComparisons<unknown> {
  const compare =
    (operator: NonNullable<Expr['operator']>) =>
    (value: unknown): Expr => ({ ...leaf, operator, value });
  const any = compare('in');
  return Object.freeze({
    is: compare('equal'),
    in: (...values: readonly unknown[]) => any(values),
    atLeast: compare('greaterThanInclusive'),
    atMost: compare('lessThanInclusive'),
    above: compare('greaterThan'),
    below: compare('lessThan'),
  });
}
