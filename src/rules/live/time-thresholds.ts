/** Tells when a rule can have another outcome although nothing changed: durations grow, and countdowns run down. Pure. */
import { type CompiledRule, type ConditionLeaf, type FactReader, listLeaves } from '../compiled-rule.ts';

/** These durations stay at zero while the state that they measure does not exist: nothing fails, or nothing rises. */
const ZERO_IS_CONSTANT: ReadonlySet<string> = new Set(['failedSeconds', 'risingSeconds']);
/** How far past a threshold a rule is evaluated: `greaterThan` does not hold at the threshold itself. */
const PAST_MS = 1;

/** Returns how many milliseconds remain until a duration or a countdown reaches a value that the rule compares. Infinity: none does. */
export function nextThresholdMs({ conditions, gate }: CompiledRule, facts: FactReader): number {
  const leaves = [conditions, ...(gate ? [gate] : [])].flatMap(listLeaves);
  return Math.min(Infinity, ...leaves.map((leaf) => thresholdMs(leaf, facts)));
}

function thresholdMs({ ref, field, value }: ConditionLeaf, facts: FactReader): number {
  const isCountdown = field.startsWith('secondsUntil');
  if (!isCountdown && !field.endsWith('Seconds')) return Infinity;
  const present = facts(ref)[field];
  if (typeof present !== 'number' || (present === 0 && ZERO_IS_CONSTANT.has(field))) return Infinity;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const ahead = values
    .flatMap((each) => (typeof each === 'number' ? [isCountdown ? present - each : each - present] : []))
    .filter((seconds) => seconds >= 0);
  return Math.min(Infinity, ...ahead) * 1000 + PAST_MS;
}
