/** How old each fact may be: as the rule says, else as its kind says. */
import { type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { FACT_KINDS, factKind } from '../catalog.ts';
import type { MaxAge } from '../compiled-rule.ts';
import { keyed, type Report, recordAt } from '../problems.ts';

/** `read` are the names of the facts that any condition of the rule reads. */
export function compileMaxAge(
  report: Report,
  path: string,
  written: unknown,
  read: readonly string[],
): ReadonlyMap<string, MaxAge> {
  const ages = written === undefined || written === null ? {} : recordAt(report, path, written);
  for (const name of Object.keys(ages ?? {})) checkAge(report, keyed(path, name), { name, ages, read });
  return new Map(read.map((name) => [name, ageOf(name, ages)]));
}

function ageOf(name: string, ages: JsonRecord | undefined): MaxAge {
  const said = valueAt(ages, name);
  return typeof said === 'number' ? { seconds: said } : (FACT_KINDS.get(name)?.maxAge ?? 'OurWatch');
}

function checkAge(
  report: Report,
  path: string,
  {
    name,
    ages,
    read,
  }: { readonly name: string; readonly ages: JsonRecord | undefined; readonly read: readonly string[] },
): undefined {
  const kind = factKind(report, path, name);
  const seconds = valueAt(ages, name);
  if (!kind) return undefined;
  if (!read.includes(name)) return report(path, `nothing in this rule reads the fact ${name}: leave it out`);
  if (kind.maxAge === 'OurWatch') {
    return report(path, `${name} is as fresh as our own watch and has no age: leave it out`);
  }
  const good = typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1;
  return good
    ? undefined
    : report(path, 'must be a whole number of seconds, at least 1: at 0 all is too old');
}
