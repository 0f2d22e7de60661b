/** The facts of a test, as a person writes them: `{disk: {imagefs: {usedPercent: 91}}, event: [{reason, ageSeconds}]}`. */
import { isRecord, type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { FACT_KINDS, factKind } from '../catalog.ts';
import { type Entry, type FactKind, type Fields, objectionTo, readingOf } from '../facts/fact.ts';
import { type Facts, type Reading, UNKNOWN_READING } from '../compiled-rule.ts';
import { guess, keyed, listIn, type Report, recordAt } from '../problems.ts';
import { objectionToParam } from './params.ts';

/** What is left out is unknown. A field that no fact has would be left out silently: it is refused. */
export function compileGiven(report: Report, path: string, written: unknown): Facts {
  const given = recordAt(report, path, written) ?? {};
  for (const name of Object.keys(given)) {
    const at = keyed(path, name);
    const kind = factKind(report, at, name);
    if (kind) checkFact(report, at, kind, valueAt(given, name));
  }
  return ({ fact, params }) => {
    const kind = FACT_KINDS.get(fact);
    return kind ? readGiven(kind, params, valueAt(given, fact)) : UNKNOWN_READING;
  };
}

function readGiven(
  { observed, fields, params: known }: FactKind,
  params: Readonly<Record<string, string | number>>,
  given: unknown,
): Reading {
  // Of observations a test gives all that there were: its source reaches back over every window.
  if (observed) {
    return Array.isArray(given)
      ? observed.read(given as readonly Entry[], params, Infinity)
      : UNKNOWN_READING;
  }
  const [key] = known.keys();
  const values = key === undefined ? given : valueAt(given, `${params[key]}`);
  return isRecord(values) ? readingOf(fields, values) : UNKNOWN_READING;
}

function checkFact(report: Report, path: string, kind: FactKind, given: unknown): void {
  if (kind.observed) return checkEntries(report, path, kind.observed.entry, given);
  const values = recordAt(report, path, given);
  if (!values) return;
  const [first] = kind.params;
  if (!first) return checkValues(report, path, kind.fields, values);
  const [name, param] = first;
  for (const key of Object.keys(values)) {
    const objection = objectionToParam(param, key);
    if (objection !== undefined) report(keyed(path, key), `${name} ${objection}`);
    const inner = recordAt(report, keyed(path, key), valueAt(values, key));
    if (inner) checkValues(report, keyed(path, key), kind.fields, inner);
  }
}

function checkEntries(report: Report, path: string, fields: Fields, given: unknown): void {
  for (const [index, entry] of (listIn(report, path, given) ?? []).entries()) {
    const at = `${path}[${index}]`;
    const values = recordAt(report, at, entry);
    if (!values) continue;
    checkValues(report, at, fields, values);
    const [name] = fields.keys();
    for (const needed of [name ?? '', 'ageSeconds'].filter((key) => !Object.hasOwn(values, key))) {
      report(`${at}.${needed}`, 'is required');
    }
  }
}

function checkValues(report: Report, path: string, fields: Fields, values: JsonRecord): void {
  const names = [...fields.keys()];
  for (const key of Object.keys(values)) {
    const field = fields.get(key);
    const objection = field
      ? objectionTo(field, valueAt(values, key))
      : `there is no such field: ${names.join(', ')}${guess(key, names)}`;
    if (objection !== undefined) report(keyed(path, key), objection);
  }
}
