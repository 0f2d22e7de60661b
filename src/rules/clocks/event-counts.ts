/** Counts how often Events of a Node occurred, by reason: the API server keeps one object for all that are equal, with a count. */
import { parseTime } from '../../api/machine/node-state.ts';
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { TimePoint } from './time-point.ts';

/** Occurrences between two times on the monotonic clock, which are equal for a single one. */
export interface EventBlock {
  readonly count: number;
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** Holds the counted occurrences by reason, oldest first. */
export type EventCounts = ReadonlyMap<string, readonly EventBlock[]>;

/** The longest window of the fact `event`. */
const KEPT_MS = 86_400_000;
/** The most blocks that are kept. More are merged: then the count is unknown for a window that ends within the merged ones. */
const MAX_BLOCKS = 64;
/** The highest count that is accepted, because a node writes the count of its own Events. */
const MAX_COUNT = 10_000;

/** Counts an Event; `before` is the state of the same Event that was counted already. */
export function countEvent(
  counts: EventCounts | undefined,
  event: KubeObject,
  before: KubeObject | undefined,
  point: TimePoint,
): EventCounts {
  const reason = textAt(event, 'reason') ?? '';
  const block = newOccurrences(event, before, point);
  if (!block) return counts ?? new Map();
  const kept = [...(counts?.get(reason) ?? []), block]
    .filter(({ newestMs }) => newestMs > point.ms - KEPT_MS)
    .toSorted((a, b) => a.newestMs - b.newestMs);
  return new Map([...(counts ?? []), [reason, mergeOldest(kept)]]);
}

function newOccurrences(
  event: KubeObject,
  before: KubeObject | undefined,
  point: TimePoint,
): EventBlock | undefined {
  const count = countOf(event) - (before ? countOf(before) : 0);
  if (count <= 0) return undefined;
  const newestMs = monotonicMs(lastTime(event), point);
  if (count === 1) return { count, oldestMs: newestMs, newestMs };
  const oldestMs = monotonicMs(before ? lastTime(before) : firstTime(event), point);
  return { count, oldestMs: Math.min(oldestMs, newestMs), newestMs };
}

function mergeOldest(blocks: readonly EventBlock[]): readonly EventBlock[] {
  const [first, second, ...rest] = blocks;
  if (blocks.length <= MAX_BLOCKS || !first || !second) return blocks;
  const oldestMs = Math.min(first.oldestMs, second.oldestMs);
  return [{ count: first.count + second.count, oldestMs, newestMs: second.newestMs }, ...rest];
}

function countOf(event: KubeObject): number {
  const counts = [valueAt(event, 'count'), valueAt(event, 'series', 'count')];
  return Math.min(MAX_COUNT, Math.max(1, ...counts.filter(isCount)));
}

function isCount(count: unknown): count is number {
  return typeof count === 'number' && Number.isInteger(count);
}

function firstTime(event: KubeObject): Date | undefined {
  return parseTime(textAt(event, 'firstTimestamp') ?? textAt(event, 'eventTime')) ?? lastTime(event);
}

function lastTime(event: KubeObject): Date | undefined {
  const times = [
    textAt(event, 'series', 'lastObservedTime'),
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    event.metadata.creationTimestamp,
  ];
  return times.map(parseTime).find((time) => time !== undefined);
}

/**
 * Returns when an Event happened, on the monotonic clock. One without a time, or with a time in the future, happened when we
 * observed it.
 */
function monotonicMs(time: Date | undefined, { ms, at }: TimePoint): number {
  return time ? ms - Math.max(0, at.getTime() - time.getTime()) : ms;
}
