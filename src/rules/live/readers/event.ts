/** Reads how often Events of the Node occurred within a time window. */

import type { EventBlock } from '../../clocks/event-counts.ts';
import { UNKNOWN_READING } from '../../compiled-rule.ts';
import { eventFact } from '../../facts/event.ts';
import type { FactParams } from '../../facts/field.ts';
import { type FactAnswer, type ReadFact, tooOldReason, unknownAnswer } from '../../facts/reading/answer.ts';
import type { NodeSnapshot } from '../../facts/reading/snapshot.ts';

/** The API server deletes Events after this time (`--event-ttl`), so the first list reaches back so far. */
const EVENT_TTL_MS = 3_600_000;

export const readEvent: ReadFact = (snapshot, params, maxAgeMs) => {
  const { point, problems, events, eventsAgeMs } = snapshot;
  const problem = problems.events ?? tooOldReason('Events', eventsAgeMs, maxAgeMs);
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
  const reading = eventFact.observed?.read(entries, params, reachSeconds);
  const isKnown = reading !== undefined && reading !== UNKNOWN_READING;
  return isKnown
    ? { reading, changesInMs: Infinity }
    : unknownAnswer(`Events are known for the last ${Math.round(reachSeconds)} s only`);
}

function oldestOf(blocks: readonly EventBlock[]): number {
  return Math.min(Infinity, ...blocks.map(({ oldestMs }) => oldestMs));
}
