/** Events of the Node with one reason, within a time window. */
import { CONDITION_REASON } from '../../api/patterns.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { EventBlock } from '../clocks/event-counts.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import type { FactKind, ObservationType } from './fact.ts';
import {
  COUNT_FIELD,
  createFields,
  createParams,
  type FactParams,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';
import { type FactAnswer, type ReadFact, tooOldReason, unknownAnswer } from './reading/answer.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';
import { countInWindow } from './reading/window.ts';

const DAY = 86_400;
/** The API server deletes Events after this time (`--event-ttl`), so the first list reaches back so far. */
const EVENT_TTL_MS = 3_600_000;

const observed: ObservationType = {
  entry: createFields({ reason: TEXT_FIELD, ageSeconds: SECONDS_FIELD }),
  read: (entries, params, reachSeconds) => {
    const same = entries.filter((entry) => entry['reason'] === params['reason']);
    return countInWindow(same, params, reachSeconds)?.reading ?? UNKNOWN_READING;
  },
};

const read: ReadFact = (snapshot, params, maxAgeMs) => {
  const { point, problems, events, viewAgeMs } = snapshot;
  const problem = problems.events ?? tooOldReason('Events', viewAgeMs('events'), maxAgeMs);
  if (problem !== undefined) return unknownAnswer(problem);
  const startMs = point.ms - Number(params['windowSeconds']) * 1000;
  const all = events?.get(String(params['reason'])) ?? [];
  const blocks = all.filter(({ newestMs }) => newestMs >= startMs);
  if (blocks.some(({ oldestMs }) => oldestMs < startMs)) {
    return unknownAnswer('some Events of this time window were counted together with older ones');
  }
  return { ...countBlocks(blocks, params, snapshot), changesInMs: oldestOf(blocks) - startMs };
};

function countBlocks(
  blocks: readonly EventBlock[],
  params: FactParams,
  { point, eventsSinceMs }: NodeSnapshot,
): FactAnswer {
  const reason = String(params['reason']);
  const entries = blocks.flatMap(({ count, newestMs }) =>
    Array.from({ length: count }, () => ({ reason, ageSeconds: (point.ms - newestMs) / 1000 })),
  );
  const reachSeconds = (EVENT_TTL_MS + point.ms - eventsSinceMs) / 1000;
  const reading = observed.read(entries, params, reachSeconds);
  return reading === UNKNOWN_READING
    ? unknownAnswer(`Events are known for the last ${Math.round(reachSeconds)} s only`)
    : { reading, changesInMs: Infinity };
}

function oldestOf(blocks: readonly EventBlock[]): number {
  return Math.min(Infinity, ...blocks.map(({ oldestMs }) => oldestMs));
}

export const eventFact = {
  name: 'event',
  source: 'Events of the Node',
  maxAge: { seconds: 120 },
  heartbeats: [],
  params: createParams({
    reason: { type: 'text', pattern: CONDITION_REASON, max: 128 },
    windowSeconds: { type: 'seconds', max: DAY },
  }),
  fields: createFields({ count: COUNT_FIELD, lastAgeSeconds: SECONDS_FIELD }),
  observed,
  read,
  // One that is deleted has still occurred.
  changes: { events: (_, after) => (after ? [textAt(after, 'reason') ?? ''] : []) },
  recorded: {
    events: {
      involvedObject: { kind: true, name: true, uid: true },
      reason: true,
      count: true,
      firstTimestamp: true,
      lastTimestamp: true,
      eventTime: true,
      series: { count: true, lastObservedTime: true },
    },
  },
} satisfies FactKind;
