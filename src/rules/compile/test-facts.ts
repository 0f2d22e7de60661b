/** Compiles `given` of a test: `{disk: {imagefs: {usedPercent: 91}}, event: [{reason, ageSeconds}]}`. */
import { isRecord, type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { FACT_KINDS, findFactKind } from '../catalog.ts';
import { type FactReader, type Reading, UNKNOWN_READING } from '../compiled-rule.ts';
import type { FactKind } from '../facts/fact.ts';
import {
  type FactFields,
  type FactParams,
  invalidValueReason,
  type Observation,
  parseReading,
} from '../facts/field.ts';
import { childPath, type ReportProblem, readArray, readObject, suggestName } from '../problems.ts';
import { invalidParamReason } from './params.ts';

/** Omitted facts are unknown. Unknown names are refused. */
export function compileTestFacts(report: ReportProblem, path: string, written: unknown): FactReader {
  const given = readObject(report, path, written) ?? {};
  for (const name of Object.keys(given)) {
    const at = childPath(path, name);
    const kind = findFactKind(report, at, name);
    if (kind) checkFact(report, at, kind, valueAt(given, name));
  }
  return ({ fact, params }) => {
    const kind = FACT_KINDS.get(fact);
    return kind ? readTestFact(kind, params, valueAt(given, fact)) : UNKNOWN_READING;
  };
}

function readTestFact(
  { observed, fields, params: known }: FactKind,
  params: FactParams,
  given: unknown,
): Reading {
  // The observations of a test are complete: they cover every window.
  if (observed) {
    return Array.isArray(given)
      ? observed.read(given as readonly Observation[], params, Infinity)
      : UNKNOWN_READING;
  }
  const [key] = known.keys();
  const values = key === undefined ? given : valueAt(given, String(params[key]));
  return isRecord(values) ? parseReading(fields, values) : UNKNOWN_READING;
}

function checkFact(report: ReportProblem, path: string, kind: FactKind, given: unknown): void {
  if (kind.observed) return checkEntries(report, path, kind.observed.entry, given);
  const values = readObject(report, path, given);
  if (!values) return;
  const [first] = kind.params;
  if (!first) return checkValues(report, path, kind.fields, values);
  const [name, param] = first;
  for (const key of Object.keys(values)) {
    const reason = invalidParamReason(param, key);
    if (reason !== undefined) report(childPath(path, key), `${name} ${reason}`);
    const inner = readObject(report, childPath(path, key), valueAt(values, key));
    if (inner) checkValues(report, childPath(path, key), kind.fields, inner);
  }
}

function checkEntries(report: ReportProblem, path: string, fields: FactFields, given: unknown): void {
  for (const [index, entry] of (readArray(report, path, given) ?? []).entries()) {
    const at = `${path}[${index}]`;
    const values = readObject(report, at, entry);
    if (!values) continue;
    checkValues(report, at, fields, values);
    const [name] = fields.keys();
    for (const required of [name ?? '', 'ageSeconds'].filter((key) => !Object.hasOwn(values, key))) {
      report(`${at}.${required}`, 'is required');
    }
  }
}

function checkValues(report: ReportProblem, path: string, fields: FactFields, values: JsonRecord): void {
  const names = [...fields.keys()];
  for (const key of Object.keys(values)) {
    const field = fields.get(key);
    const reason = field
      ? invalidValueReason(field, valueAt(values, key))
      : `unknown field: use one of ${names.join(', ')}${suggestName(key, names)}`;
    if (reason !== undefined) report(childPath(path, key), reason);
  }
}
