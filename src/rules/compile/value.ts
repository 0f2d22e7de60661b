/** What a leaf compares with: of the type of the field, and neither always nor never true. */

import { isRecord } from '../../kube/objects/json.ts';
import { type Field, objectionTo } from '../facts/fact.ts';
import type { Operator, Scalar, Value } from '../compiled-rule.ts';
import { COMPARISONS, isNumeric } from '../operators.ts';
import { kindOf, type Report } from '../problems.ts';

const MAX_LIST = 32;

interface Wanted {
  readonly field: Field;
  /** `condition.status`, for messages. */
  readonly label: string;
  readonly operator: Operator;
}

export function compileValue(
  report: Report,
  path: string,
  wanted: Wanted,
  value: unknown,
): Value | undefined {
  if (isRecord(value)) {
    return report(path, 'must be a value, not an object: a fact is compared with a value, never with a fact');
  }
  const { operator } = wanted;
  if (operator === 'in') return compileList(report, path, wanted, value);
  if (Array.isArray(value)) {
    return report(path, `${operator} takes one value, not a list: use in for several`);
  }
  return isNumeric(operator)
    ? compileBound(report, path, wanted, value)
    : compileScalar(report, path, wanted, value);
}

function compileScalar(
  report: Report,
  path: string,
  { field, label }: Wanted,
  value: unknown,
): Scalar | undefined {
  const objection = objectionTo(field, value);
  return objection === undefined ? (value as Scalar) : report(path, `${label} ${objection}`);
}

/** `in` with text is a test for a part of the text in the engine: it takes a list and nothing else. */
function compileList(report: Report, path: string, wanted: Wanted, value: unknown): Value | undefined {
  if (!Array.isArray(value)) return report(path, `in takes a list, not ${kindOf(value)}: write [value]`);
  const items: readonly unknown[] = Array.from(value as readonly unknown[]);
  if (items.length === 0) return report(path, 'in an empty list there is nothing: name the values');
  if (items.length > MAX_LIST) return report(path, `must have at most ${MAX_LIST} values`);
  const good = items.flatMap((item, index) => compileScalar(report, `${path}[${index}]`, wanted, item) ?? []);
  if (good.length < items.length) return undefined;
  if (new Set(good).size < good.length) return report(path, 'names a value twice: leave one out');
  const isAll = domainOf(wanted.field).every((one) => one !== undefined && good.includes(one));
  if (!isAll) return Object.freeze(good);
  return report(path, `names every value that ${wanted.label} can have, so it says nothing: name fewer`);
}

/** Every value of a field that has few of them; of another one, something that no list holds. */
function domainOf(field: Field): readonly (Scalar | undefined)[] {
  if (field.type === 'boolean') return [true, false];
  return (field.type === 'text' ? field.values : undefined) ?? [undefined];
}

/** A comparison that holds for all values would match the whole fleet; one that holds for none hides a mistake. */
function compileBound(report: Report, path: string, wanted: Wanted, value: unknown): Scalar | undefined {
  const { field, label, operator } = wanted;
  if (field.type !== 'number') return undefined;
  const number = compileScalar(report, path, wanted, value);
  if (number === undefined) return undefined;
  const ends = [field.min, Math.min(field.max, Number.MAX_VALUE)];
  const answers = ends.map((end) => COMPARISONS[operator](end, number));
  if (answers.includes(true) && answers.includes(false)) return number;
  const always = answers.includes(true) ? 'always' : 'never';
  const range = field.max === Infinity ? `${field.min} or more` : `from ${field.min} to ${field.max}`;
  return report(path, `${label} is ${range}, so this ${always} holds: choose another bound`);
}
