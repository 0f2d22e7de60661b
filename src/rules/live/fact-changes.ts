/** Tells which facts of a machine a change of an object concerns. Pure. */
import { FACT_KINDS } from '../catalog.ts';
import type { ConditionHistory, TimedCondition } from '../clocks/condition-clock.ts';
import type { FactRef } from '../compiled-rule.ts';
import type { ConcernedParams, FactKind, HeartbeatSource } from '../facts/fact.ts';
import type { FactViewName, ViewObject } from '../views.ts';

export interface FactChange {
  readonly machine: string;
  /** `condition Ready`, or `condition` for every condition. */
  readonly topics: readonly string[];
  /** Set if the values are the same: for so long nothing was heard of their source. Only those that were too old are different now. */
  readonly silentMs?: number;
}

const KINDS: readonly FactKind[] = [...FACT_KINDS.values()];

export const ALL_TOPICS: readonly string[] = KINDS.map(({ name }) => name);

/** Returns the topics of the facts that heartbeats of this source keep from becoming too old. */
export function topicsHeardOf(source: HeartbeatSource): readonly string[] {
  return KINDS.filter(({ heartbeats }) => heartbeats.includes(source)).map(({ name }) => name);
}

/** Returns the topic of a fact, by its first parameter, which names what is read. */
export function topicOf({ fact, params }: Pick<FactRef, 'fact' | 'params'>): string {
  const [first] = Object.values(params);
  return first === undefined ? fact : parameterTopic(fact, String(first));
}

/** Returns the topic of a fact with this first parameter. */
export function parameterTopic(fact: string, name: string): string {
  return `${fact} ${name}`;
}

/** Returns the topics of the facts that a change of an object concerns. `before` is undefined for a new one, `after` for a deleted one. */
export function topicsChanged<V extends FactViewName>(
  view: V,
  before: ViewObject<V> | undefined,
  after: ViewObject<V> | undefined,
): readonly string[] {
  return KINDS.flatMap(({ name, changes }) => {
    const concerned: ConcernedParams = changes[view]?.(before, after) ?? false;
    if (typeof concerned === 'boolean') return concerned ? [name] : [];
    return concerned.map((each) => parameterTopic(name, each));
  });
}

interface ConditionChanges {
  readonly values: readonly string[];
  /** The topics of conditions that were written again with the same values. */
  readonly heartbeats: readonly string[];
  readonly silentMs: number;
}

export function conditionChanges(
  before: ConditionHistory | undefined,
  after: ConditionHistory,
): ConditionChanges {
  if (!before || before.nodeUID !== after.nodeUID || before.bootID !== after.bootID) {
    return { values: ['condition'], heartbeats: [], silentMs: 0 };
  }
  const gone = [...before.types.keys()].filter((type) => !after.types.has(type));
  const written = [...after.types].filter(([type, next]) => before.types.get(type) !== next);
  const same = written.filter(([type, next]) => hasSameValues(before.types.get(type), next));
  const changed = written.filter((each) => !same.includes(each)).map(([type]) => type);
  const silent = same.map(([type, next]) => next.writtenMs - (before.types.get(type)?.writtenMs ?? 0));
  return {
    values: [...gone, ...changed].map(conditionTopic),
    heartbeats: same.map(([type]) => conditionTopic(type)),
    silentMs: Math.max(0, ...silent),
  };
}

/** Tells whether a condition has the same values. The transition time counts as a value: it is the time of the evidence. */
function hasSameValues(before: TimedCondition | undefined, next: TimedCondition): boolean {
  return (
    before?.status === next.status &&
    before.reason === next.reason &&
    before.transitionTime === next.transitionTime
  );
}

function conditionTopic(type: string): string {
  return parameterTopic('condition', type);
}
