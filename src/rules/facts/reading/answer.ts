/** The answer of a reader of facts: a reading, or why there is none, and when time alone changes it. */
import { type Reading, UNKNOWN_READING } from '../../compiled-rule.ts';
import { type FactFields, type FactParams, parseReading } from '../field.ts';
import type { NodeSnapshot } from './snapshot.ts';

export interface FactAnswer {
  readonly reading: Reading;
  /** Why the fact is unknown, for people. */
  readonly unknown?: string;
  /** After this time the reading is different although nothing changed: it becomes too old, or a count drops. */
  readonly changesInMs: number;
}

/** `maxAgeMs` is Infinity for facts without an age. */
export type ReadFact = (snapshot: NodeSnapshot, params: FactParams, maxAgeMs: number) => FactAnswer;

/** Values that lie about their type are unknown. */
export function knownAnswer(
  fields: FactFields,
  values: Readonly<Record<string, unknown>>,
  changesInMs = Infinity,
): FactAnswer {
  return { reading: parseReading(fields, values), changesInMs };
}

export function unknownAnswer(unknown: string): FactAnswer {
  return { reading: UNKNOWN_READING, unknown, changesInMs: Infinity };
}

/** Undefined: it is recent enough. */
export function tooOldReason(what: string, ageMs: number, maxAgeMs: number): string | undefined {
  if (ageMs <= maxAgeMs) return undefined;
  const since = Number.isFinite(ageMs) ? `for ${Math.round(ageMs / 1000)} s` : 'yet';
  return `nothing heard of ${what} ${since}`;
}
