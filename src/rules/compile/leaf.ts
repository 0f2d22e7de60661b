/** A leaf: one field of one fact, compared. Everything it names must be in the catalogue. */

import { OPERATORS } from '../../api/facts.ts';
import { type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { factKind } from '../catalog.ts';
import type { FactKind, Field } from '../facts/fact.ts';
import type { Leaf, Operator } from '../compiled-rule.ts';
import { isNumeric, isOperator, objectionToOperator } from '../operators.ts';
import { guess, keyed, kindOf, type Report, shown } from '../problems.ts';
import { compileParams } from './params.ts';
import { compileValue } from './value.ts';

const KEYS = ['fact', 'params', 'path', 'operator', 'value'];
/** Of a fact's own properties one, and no way further: this never reaches a JSONPath evaluator. */
const PATH = /^\$\.([A-Za-z]+)$/;

export function compileLeaf(report: Report, path: string, leaf: JsonRecord): Leaf | undefined {
  refuseOtherKeys(report, path, leaf);
  const kind = factKind(report, `${path}.fact`, valueAt(leaf, 'fact'));
  const operator = compileOperator(report, `${path}.operator`, valueAt(leaf, 'operator'));
  if (!kind) return undefined;
  const ref = compileParams(report, `${path}.params`, kind, valueAt(leaf, 'params'));
  const place = compilePath(report, `${path}.path`, kind, valueAt(leaf, 'path'));
  if (!place || !operator) return undefined;
  const wanted = { field: place.field, label: `${kind.name}.${place.name}`, operator };
  if (!suits(report, `${path}.operator`, wanted)) return undefined;
  const value = compileValue(report, `${path}.value`, wanted, valueAt(leaf, 'value'));
  return ref && value !== undefined ? { ref, field: place.name, operator, value } : undefined;
}

/** Words of json-rules-engine that would change what a tree means, each with why it is refused. */
const REFUSED: Readonly<Record<string, string>> = {
  not: 'there is no negation, as unknown would look like an answer: write the positive list',
  condition: 'there are no shared conditions: write the condition out, or share it in TypeScript',
  priority: 'a condition has no priority: all of them are always looked at',
  name: 'a condition has no name: leave it out',
};

export function refuseOtherKeys(report: Report, path: string, node: JsonRecord, keys = KEYS): void {
  for (const key of Object.keys(node).filter((one) => !keys.includes(one))) {
    const why = Object.hasOwn(REFUSED, key) ? REFUSED[key] : `there is no such field${guess(key, keys)}`;
    report(keyed(path, key), why ?? 'there is no such field');
  }
}

function compileOperator(report: Report, path: string, word: unknown): Operator | undefined {
  if (isOperator(word)) return word;
  const known = OPERATORS.join(', ');
  if (typeof word !== 'string') {
    return report(path, `must be an operator, not ${kindOf(word)}: one of ${known}`);
  }
  const why = objectionToOperator(word) ?? `there are ${known}${guess(word, OPERATORS)}`;
  return report(path, `there is no operator ${shown(word)}: ${why}`);
}

interface Place {
  readonly name: string;
  readonly field: Field;
}

function compilePath(report: Report, path: string, kind: FactKind, written: unknown): Place | undefined {
  const names = [...kind.fields.keys()];
  const known = `one of ${names.map((name) => `$.${name}`).join(', ')}`;
  if (typeof written !== 'string') return report(path, `must be a field of ${kind.name}, ${known}`);
  const name = PATH.exec(written)?.[1];
  if (name === undefined) {
    return report(path, `must be "$." and one field, without filters or further steps: ${known}`);
  }
  const field = kind.fields.get(name);
  return field
    ? { name, field }
    : report(path, `${kind.name} has no field ${name}: ${known}${guess(name, names)}`);
}

function suits(
  report: Report,
  path: string,
  { field, label, operator }: { readonly field: Field; readonly label: string; readonly operator: Operator },
): boolean {
  if (isNumeric(operator) && field.type !== 'number') {
    report(path, `${operator} compares numbers, and ${label} is none: use equal or in`);
    return false;
  }
  if (operator === 'contains') {
    report(path, `contains asks what is in a list, and ${label} is no list: use equal or in`);
    return false;
  }
  return true;
}
