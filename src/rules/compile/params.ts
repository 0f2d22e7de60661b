/** Which one of a fact is meant: all parameters that its kind has, and no other. */
import { isRecord, valueAt } from '../../kube/objects/json.ts';
import type { FactKind, Param } from '../facts/fact.ts';
import type { FactRef } from '../compiled-rule.ts';
import { guess, keyed, kindOf, type Report, shown } from '../problems.ts';

export function compileParams(
  report: Report,
  path: string,
  { name: fact, params: known }: FactKind,
  written: unknown,
): FactRef | undefined {
  const given = written ?? {};
  if (!isRecord(given)) return report(path, `must be an object, not ${kindOf(written)}`);
  const names = [...known.keys()];
  const strangers = Object.keys(given).filter((key) => !known.has(key));
  for (const key of strangers) {
    const has = names.length === 0 ? `${fact} takes none` : `${fact} takes ${names.join(', ')}`;
    report(keyed(path, key), `there is no such parameter: ${has}${guess(key, names)}`);
  }
  const good = [...known].flatMap(([name, param]) => {
    const value = valueAt(given, name);
    const objection = objectionToParam(param, value);
    if (objection === undefined) return [[name, value as string | number] as const];
    report(`${path}.${name}`, value === undefined ? `is required: ${objection}` : objection);
    return [];
  });
  if (strangers.length > 0 || good.length < known.size) return undefined;
  const params = Object.freeze(Object.fromEntries(good));
  return { fact, params, key: `${fact}${JSON.stringify(params)}` };
}

export function objectionToParam(param: Param, value: unknown): string | undefined {
  if (param.type === 'seconds') return objectionToSeconds(value, param.max);
  return param.type === 'choice' ? objectionToChoice(param.values, value) : objectionToText(param, value);
}

function objectionToSeconds(value: unknown, max: number): string | undefined {
  const isGood = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
  return isGood ? undefined : `must be a whole number of seconds from 1 to ${max}, without quotes`;
}

function objectionToChoice(values: readonly string[], value: unknown): string | undefined {
  if (values.some((one) => one === value)) return undefined;
  const hint = typeof value === 'string' ? guess(value, values) : '';
  return `must be one of ${values.join(', ')}, not ${shown(value)}${hint}`;
}

function objectionToText(
  { pattern, max }: Extract<Param, { type: 'text' }>,
  value: unknown,
): string | undefined {
  if (typeof value !== 'string') return `must be text: ${pattern.words}`;
  if (value.length > max) return `must have at most ${max} characters`;
  return new RegExp(pattern.regex).test(value) ? undefined : `must be ${pattern.words}`;
}
