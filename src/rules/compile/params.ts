/** Compiles the parameters of a fact: all of its kind are required, others are refused. */
import { isRecord, valueAt } from '../../kube/objects/json.ts';
import type { FactParamValue, FactRef } from '../compiled-rule.ts';
import type { FactKind } from '../facts/fact.ts';
import type { FactParam } from '../facts/field.ts';
import { childPath, formatValue, type ReportProblem, suggestName, typeProblem } from '../problems.ts';

export function compileParams(
  report: ReportProblem,
  path: string,
  { name: fact, params: known }: FactKind,
  written: unknown,
): FactRef | undefined {
  const given = written ?? {};
  if (!isRecord(given)) return report(path, typeProblem('an object', written));
  const names = [...known.keys()];
  const unknownKeys = Object.keys(given).filter((key) => !known.has(key));
  for (const key of unknownKeys) {
    const has = names.length === 0 ? `${fact} has no parameters` : `${fact} has ${names.join(', ')}`;
    report(childPath(path, key), `unknown parameter: ${has}${suggestName(key, names)}`);
  }
  const valid = [...known].flatMap(([name, param]) => {
    const value = valueAt(given, name);
    const reason = invalidParamReason(param, value);
    if (reason === undefined) return [[name, value as FactParamValue] as const];
    report(`${path}.${name}`, value === undefined ? `is required: ${reason}` : reason);
    return [];
  });
  if (unknownKeys.length > 0 || valid.length < known.size) return undefined;
  const params = Object.freeze(Object.fromEntries(valid));
  return { fact, params, key: `${fact}${JSON.stringify(params)}` };
}

export function invalidParamReason(param: FactParam, value: unknown): string | undefined {
  if (param.type === 'codes') return invalidCodesReason(value, param.max);
  if (param.type === 'seconds') return invalidSecondsReason(value, param.max);
  return param.type === 'choice' ? invalidChoiceReason(param.values, value) : invalidTextReason(param, value);
}

function invalidSecondsReason(value: unknown, max: number): string | undefined {
  const isValid = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
  return isValid ? undefined : `must be an integer number of seconds from 1 to ${max}, without quotes`;
}

const MAX_CODE = 9999;

function invalidCodesReason(value: unknown, max: number): string | undefined {
  const isCode = (each: unknown): boolean =>
    Number.isInteger(each) && Number(each) >= 0 && Number(each) <= MAX_CODE;
  const codes: readonly unknown[] = Array.isArray(value) ? value : [];
  const isValid = codes.length > 0 && codes.length <= max && codes.every(isCode);
  if (isValid && new Set(codes).size === codes.length) return undefined;
  return `must be a list of 1 to ${max} different integers from 0 to ${MAX_CODE}, without quotes`;
}

function invalidChoiceReason(values: readonly string[], value: unknown): string | undefined {
  if (values.some((one) => one === value)) return undefined;
  const hint = typeof value === 'string' ? suggestName(value, values) : '';
  return `must be one of ${values.join(', ')}, got ${formatValue(value)}${hint}`;
}

function invalidTextReason(
  { pattern, max }: Extract<FactParam, { type: 'text' }>,
  value: unknown,
): string | undefined {
  if (typeof value !== 'string') return `must be a string: ${pattern.description}`;
  if (value.length > max) return `must have at most ${max} characters`;
  return new RegExp(pattern.regex).test(value) ? undefined : `must be ${pattern.description}`;
}
