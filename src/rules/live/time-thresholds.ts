/** Tells when a rule can have another outcome although nothing changed: durations grow, and countdowns run down. Pure. */
import { FACT_KINDS } from '../catalog.ts';
import { type CompiledRule, type ConditionLeaf, type FactReader, listLeaves } from '../compiled-rule.ts';
import type { FactField } from '../facts/field.ts';

/** How far past a threshold a rule is evaluated: `greaterThan` does not hold at the threshold itself. */
const PAST_MS = 1;

/** Returns how many milliseconds remain until a duration or a countdown reaches a value that the rule compares. Infinity: none does. */
export function nextThresholdMs({ conditions, gate }: CompiledRule, facts: FactReader): number {
  const leaves = [conditions, ...(gate ? [gate] : [])].flatMap(listLeaves);
  return Math.min(Infinity, ...leaves.map((leaf) => thresholdMs(leaf, facts)));
}

function thresholdMs({ ref, field, value }: ConditionLeaf, facts: FactReader): number {
  const time = timeOf(ref.fact, field);
  const present = time && facts(ref)[field];
  if (typeof present !== 'number' || (present === 0 && time === 'GrowsUnlessZero')) return Infinity;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const ahead = values
    .flatMap((each) => (typeof each === 'number' ? [each - present] : []))
    .map((seconds) => (time === 'RunsDown' ? -seconds : seconds))
    .filter((seconds) => seconds >= 0);
  return Math.min(Infinity, ...ahead) * 1000 + PAST_MS;
}

function timeOf(fact: string, name: string): Extract<FactField, { type: 'number' }>['time'] {
  const field = FACT_KINDS.get(fact)?.fields.get(name);
  return field?.type === 'number' ? field.time : undefined;
}
