/**
 * Finds the groups of machines of which too much is unknown for too long: then the detector is suspect, and what rules still
 * find elsewhere is not trusted either. A machine with an act in flight may be silent because of the act. Pure.
 */
import type { Breaker } from '../../api/generated/types.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { wholeSeconds } from '../../os/dates.ts';
import type { MachineFacts, UnknownFact } from '../facts/facts.ts';
import { type Grouping, groupKey } from '../facts/grouping.ts';
import { after } from '../guards/guard.ts';

export interface UnknownFactsInput {
  readonly breaker: Breaker;
  readonly grouping: Grouping;
  /** Machines of which facts are unknown; undefined: not observed. */
  readonly machines: readonly MachineFacts[] | undefined;
  /** Machines that are not counted: too young, or with an act in flight. */
  readonly isLeftOut: (machine: MachineFacts) => boolean;
  /** Returns the size of a group. */
  readonly sizeOf: (key: string) => number;
  readonly now: Date;
}

/** Counted where a policy sets no `withinSeconds`: longer than a restart of every detector at once. */
const USUAL_SECONDS = 600;

/** Returns what tells for one group why its breaker has to be open; undefined: enough is known. */
export function unknownFactsCause(input: UnknownFactsInput): (key: string) => string | undefined {
  const { machines, breaker, sizeOf } = input;
  if (!machines) return () => 'facts that rules need were not observed';
  const groups = groupUnknown(machines, input);
  const { percent = 100, count = 1 } = breaker;
  return (key) => {
    const unknown = groups.get(key) ?? [];
    const total = sizeOf(key);
    if (unknown.length < count || unknown.length * 100 < percent * total) return undefined;
    return describe(unknown, total);
  };
}

/** The facts that have been unknown for long on one machine. */
type UnknownOnMachine = readonly UnknownFact[];

function groupUnknown(
  machines: readonly MachineFacts[],
  { breaker, grouping, isLeftOut, now }: UnknownFactsInput,
): ReadonlyMap<string, readonly UnknownOnMachine[]> {
  const latest = after(now, -(breaker.withinSeconds ?? USUAL_SECONDS));
  const groups = new Map<string, UnknownOnMachine[]>();
  for (const machine of machines) {
    const lasting = (machine.unknownFacts ?? []).filter(({ since }) => since <= latest);
    const isCounted = lasting.length > 0 && isSelected(grouping.selector, machine.labels);
    if (!isCounted || isLeftOut(machine)) continue;
    const key = groupKey(grouping, machine);
    const group = groups.get(key) ?? [];
    group.push(lasting);
    groups.set(key, group);
  }
  return groups;
}

/** Names the rule that most machines leave without an answer: the ledger keeps 128 characters. */
function describe(unknown: readonly UnknownOnMachine[], total: number): string {
  const first = firstOf(mostFrequent(unknown.flat()));
  const text = `${unknown.length} of ${total} machines, first ${wholeSeconds(first.since)}, rule ${first.rule}: ${first.message}`;
  return text.replaceAll(/[^ -~]/g, '?');
}

function mostFrequent(facts: readonly UnknownFact[]): readonly UnknownFact[] {
  const byRule = Map.groupBy(facts, ({ rule }) => rule);
  const sorted = [...byRule].toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  return sorted[0]?.[1] ?? [];
}

function firstOf(facts: readonly UnknownFact[]): UnknownFact {
  return facts.reduce((first, fact) => (fact.since < first.since ? fact : first));
}
