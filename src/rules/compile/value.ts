/** Compiles the value of a comparison: of the type of the field, and neither always nor never true. */
import { isRecord } from '../../kube/objects/json.ts';
import type { ComparisonOperator, ComparisonValue, ScalarValue } from '../compiled-rule.ts';
import { type FactField, invalidValueReason } from '../facts/field.ts';
import { COMPARISONS, isNumeric } from '../operators.ts';
import { describeType, type ReportProblem } from '../problems.ts';

const MAX_LIST = 32;

interface ComparisonField {
  readonly field: FactField;
  /** `condition.status`, for messages. */
  readonly label: string;
  readonly operator: ComparisonOperator;
}

export function compileValue(
  report: ReportProblem,
  path: string,
  comparison: ComparisonField,
  value: unknown,
): ComparisonValue | undefined {
  if (isRecord(value)) {
    return report(path, 'must be a value, got an object: facts cannot be compared with facts');
  }
  const { operator } = comparison;
  if (operator === 'in') return compileList(report, path, comparison, value);
  if (Array.isArray(value)) {
    return report(path, `${operator} requires a single value, got a list: use in for several values`);
  }
  return isNumeric(operator)
    ? compileBound(report, path, comparison, value)
    : compileScalar(report, path, comparison, value);
}

function compileScalar(
  report: ReportProblem,
  path: string,
  { field, label }: ComparisonField,
  value: unknown,
): ScalarValue | undefined {
  const reason = invalidValueReason(field, value);
  return reason === undefined ? (value as ScalarValue) : report(path, `${label} ${reason}`);
}

/** Only lists: for a string, the engine would search for a substring. */
function compileList(
  report: ReportProblem,
  path: string,
  comparison: ComparisonField,
  value: unknown,
): ComparisonValue | undefined {
  if (!Array.isArray(value)) {
    return report(path, `in requires a list, got ${describeType(value)}: write [value]`);
  }
  const items: readonly unknown[] = Array.from(value as readonly unknown[]);
  if (items.length === 0) return report(path, 'must not be empty: add values');
  if (items.length > MAX_LIST) return report(path, `must have at most ${MAX_LIST} values`);
  const valid = items.flatMap(
    (item, index) => compileScalar(report, `${path}[${index}]`, comparison, item) ?? [],
  );
  if (valid.length < items.length) return undefined;
  if (new Set(valid).size < valid.length) return report(path, 'contains a value twice: remove one');
  const isAll = possibleValues(comparison.field).every((one) => one !== undefined && valid.includes(one));
  if (!isAll) return Object.freeze(valid);
  return report(
    path,
    `contains every possible value of ${comparison.label}, so this always holds: remove values`,
  );
}

/** The possible values of a boolean or an enum; [undefined] for all other fields, which no list contains. */
function possibleValues(field: FactField): readonly (ScalarValue | undefined)[] {
  if (field.type === 'boolean') return [true, false];
  return (field.type === 'text' ? field.values : undefined) ?? [undefined];
}

/** A bound that holds for all values would match the whole fleet; one that holds for none is a mistake. */
function compileBound(
  report: ReportProblem,
  path: string,
  comparison: ComparisonField,
  value: unknown,
): ScalarValue | undefined {
  const { field, label, operator } = comparison;
  if (field.type !== 'number') return undefined;
  const number = compileScalar(report, path, comparison, value);
  if (number === undefined) return undefined;
  const ends = [Math.max(field.min, -Number.MAX_VALUE), Math.min(field.max, Number.MAX_VALUE)];
  const results = ends.map((end) => COMPARISONS[operator](end, number));
  if (results.includes(true) && results.includes(false)) return number;
  const always = results.includes(true) ? 'always' : 'never';
  const range = field.max === Infinity ? `${field.min} or more` : `from ${field.min} to ${field.max}`;
  return report(path, `${label} is ${range}, so this ${always} holds: choose another bound`);
}
