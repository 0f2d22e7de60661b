/** Compiles the maximum age of each fact: that of the rule, or the default of the fact. */
import { type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { FACT_KINDS, findFactKind } from '../catalog.ts';
import type { MaxAge } from '../compiled-rule.ts';
import { childPath, type ReportProblem, readObject } from '../problems.ts';

/** `read` contains the names of the facts that the conditions of the rule read. */
export function compileMaxAge(
  report: ReportProblem,
  path: string,
  written: unknown,
  read: readonly string[],
): ReadonlyMap<string, MaxAge> {
  const ages = written === undefined || written === null ? {} : readObject(report, path, written);
  for (const name of Object.keys(ages ?? {})) checkAge(report, childPath(path, name), { name, ages, read });
  return new Map(read.map((name) => [name, maxAgeOf(name, ages)]));
}

function maxAgeOf(name: string, ages: JsonRecord | undefined): MaxAge {
  const seconds = valueAt(ages, name);
  return typeof seconds === 'number' ? { seconds } : (FACT_KINDS.get(name)?.maxAge ?? 'OurWatch');
}

function checkAge(
  report: ReportProblem,
  path: string,
  {
    name,
    ages,
    read,
  }: { readonly name: string; readonly ages: JsonRecord | undefined; readonly read: readonly string[] },
): undefined {
  const kind = findFactKind(report, path, name);
  const seconds = valueAt(ages, name);
  if (!kind) return undefined;
  if (!read.includes(name)) return report(path, `no condition of this rule reads fact ${name}: omit it`);
  if (kind.maxAge === 'OurWatch') {
    return report(path, `fact ${name} is read by a watch and has no age: omit it`);
  }
  const isValid = typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1;
  return isValid ? undefined : report(path, 'must be an integer number of seconds, at least 1');
}
