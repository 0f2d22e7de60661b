/** Tells which facts of a machine a change of an object concerns. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Machine } from '../../api/generated/types.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { ConditionHistory, TimedCondition } from '../clocks/condition-clock.ts';
import type { FactRef } from '../compiled-rule.ts';

export interface FactChange {
  readonly machine: string;
  /** `condition Ready`, or `condition` for every condition. */
  readonly topics: readonly string[];
  /** Set if the values are the same: for so long nothing was heard of their source. Only those that were too old are different now. */
  readonly silentMs?: number;
}

export const ALL_TOPICS = [
  'condition',
  'event',
  'node',
  'component',
  'disk',
  'probe',
  'history',
  'maintenance',
];
/** The topics that a report of the agent concerns. `node` is among them because the agent reports the kernel and more of it, too. */
export const AGENT_TOPICS = ['component', 'disk', 'probe', 'node'];

/**
 * Returns the topic of a fact, by its first parameter, which names what is read. `history` has one topic for all actions,
 * because a job changes several.
 */
export function topicOf({ fact, params }: Pick<FactRef, 'fact' | 'params'>): string {
  const [first] = fact === 'history' ? [] : Object.values(params);
  return first === undefined ? fact : topic(fact, `${first}`);
}

export function topic(fact: string, name: string): string {
  return `${fact} ${name}`;
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
  return topic('condition', type);
}

export function nodeChanges(before: KubeObject, after: KubeObject): readonly string[] {
  const parts = [
    ['metadata', 'labels'],
    ['spec', 'unschedulable'],
    ['status', 'nodeInfo'],
    ['status', 'allocatable'],
  ];
  return parts.some((path) => !isDeepStrictEqual(valueAt(before, ...path), valueAt(after, ...path)))
    ? ['node']
    : [];
}

export function machineChanges(before: Machine, after: Machine): readonly string[] {
  const differs = (...path: readonly string[]): boolean =>
    !isDeepStrictEqual(valueAt(before, ...path), valueAt(after, ...path));
  const topics = [
    ...entryChanges('component', 'name', [before, after], ['status', 'components']),
    ...entryChanges('disk', 'filesystem', [before, after], ['status', 'facts', 'disk']),
    ...entryChanges('probe', 'name', [before, after], ['status', 'facts', 'probes']),
  ];
  const hasRebooted = differs('status', 'facts', 'bootedAt');
  const isNode =
    hasRebooted || differs('metadata', 'labels') || differs('status', 'system') || differs('status', 'agent');
  if (isNode) topics.push('node');
  // What was raised before the boot is no longer evidence.
  if (hasRebooted) topics.push('condition');
  return topics;
}

function entryChanges(
  fact: string,
  key: string,
  [before, after]: readonly [Machine, Machine],
  path: readonly string[],
): string[] {
  const [old, present] = [valueAt(before, ...path), valueAt(after, ...path)];
  if (old === present) return [];
  const last = entriesByName(listAt(before, ...path), key);
  const next = entriesByName(listAt(after, ...path), key);
  const names = new Set([...last.keys(), ...next.keys()]);
  return [...names]
    .filter((name) => !isDeepStrictEqual(last.get(name), next.get(name)))
    .map((name) => topic(fact, name));
}

function entriesByName(entries: readonly unknown[], key: string): ReadonlyMap<string, unknown> {
  return new Map(entries.map((entry) => [textAt(entry, key) ?? '', entry]));
}
