/** Compiles a leaf: the comparison of one field of a fact. Facts and fields must be in the catalog. */
import { OPERATORS } from '../../api/facts.ts';
import { type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { findFactKind } from '../catalog.ts';
import type { ComparisonOperator, ConditionLeaf } from '../compiled-rule.ts';
import type { FactKind } from '../facts/fact.ts';
import type { FactField } from '../facts/field.ts';
import { isNumeric, isOperator, unsupportedOperatorReason } from '../operators.ts';
import { childPath, formatValue, type ReportProblem, suggestName, typeProblem } from '../problems.ts';
import { compileParams } from './params.ts';
import { compileValue } from './value.ts';

const KEYS = ['fact', 'params', 'path', 'operator', 'value'];
/** Exactly one field of a fact. Never passed to a JSONPath evaluator. */
const PATH = /^\$\.([A-Za-z]+)$/;

export function compileLeaf(
  report: ReportProblem,
  path: string,
  leaf: JsonRecord,
): ConditionLeaf | undefined {
  reportOtherKeys(report, path, leaf);
  const kind = findFactKind(report, `${path}.fact`, valueAt(leaf, 'fact'));
  const operator = compileOperator(report, `${path}.operator`, valueAt(leaf, 'operator'));
  if (!kind) return undefined;
  const ref = compileParams(report, `${path}.params`, kind, valueAt(leaf, 'params'));
  const fieldPath = compilePath(report, `${path}.path`, kind, valueAt(leaf, 'path'));
  if (!fieldPath || !operator) return undefined;
  const comparison = { field: fieldPath.field, label: `${kind.name}.${fieldPath.name}`, operator };
  if (!checkOperator(report, `${path}.operator`, comparison)) return undefined;
  const value = compileValue(report, `${path}.value`, comparison, valueAt(leaf, 'value'));
  return ref && value !== undefined ? { ref, field: fieldPath.name, operator, value } : undefined;
}

/** Fields of json-rules-engine that would change the meaning of a tree, with the reason for the refusal. */
const REFUSED_KEYS: Readonly<Record<string, string>> = {
  not: 'negation is not supported, because an unknown value would match: list the matching values',
  condition: 'shared conditions are not supported: repeat the condition, or share it in TypeScript',
  priority: 'priority is not supported: all conditions are always evaluated',
  name: 'name is not supported for conditions: omit it',
};

export function reportOtherKeys(report: ReportProblem, path: string, node: JsonRecord, keys = KEYS): void {
  for (const key of Object.keys(node).filter((one) => !keys.includes(one))) {
    const reason = Object.hasOwn(REFUSED_KEYS, key)
      ? REFUSED_KEYS[key]
      : `unknown field${suggestName(key, keys)}`;
    report(childPath(path, key), reason ?? 'unknown field');
  }
}

function compileOperator(report: ReportProblem, path: string, word: unknown): ComparisonOperator | undefined {
  if (isOperator(word)) return word;
  const known = OPERATORS.join(', ');
  if (typeof word !== 'string') {
    return report(path, `${typeProblem('an operator', word)}: one of ${known}`);
  }
  const reason = unsupportedOperatorReason(word) ?? `use one of ${known}${suggestName(word, OPERATORS)}`;
  return report(path, `unknown operator ${formatValue(word)}: ${reason}`);
}

interface FieldPath {
  readonly name: string;
  readonly field: FactField;
}

function compilePath(
  report: ReportProblem,
  path: string,
  kind: FactKind,
  written: unknown,
): FieldPath | undefined {
  const names = [...kind.fields.keys()];
  const known = `one of ${names.map((name) => `$.${name}`).join(', ')}`;
  if (typeof written !== 'string') return report(path, `must be a field of ${kind.name}, ${known}`);
  const name = PATH.exec(written)?.[1];
  if (name === undefined) {
    return report(path, `must be "$." and one field, without filters or nested fields: ${known}`);
  }
  const field = kind.fields.get(name);
  return field
    ? { name, field }
    : report(path, `fact ${kind.name} has no field ${name}: ${known}${suggestName(name, names)}`);
}

function checkOperator(
  report: ReportProblem,
  path: string,
  {
    field,
    label,
    operator,
  }: { readonly field: FactField; readonly label: string; readonly operator: ComparisonOperator },
): boolean {
  if (isNumeric(operator) && field.type !== 'number') {
    report(path, `${operator} requires a number, but ${label} is not a number: use equal or in`);
    return false;
  }
  if (operator === 'contains') {
    report(path, `contains requires a list, but ${label} is not a list: use equal or in`);
    return false;
  }
  return true;
}
