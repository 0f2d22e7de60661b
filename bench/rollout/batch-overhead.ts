/** The time between two batches, and how much of it is not explained by the writes that end the first one. Pure. */
import { percentile } from '../bench.ts';
import type { BatchTimes } from './fleet.ts';

export interface BatchOverhead {
  readonly batches: number;
  /** From the last report of a batch to the first machine of the next one. */
  readonly betweenP50Ms: number;
  readonly betweenMostMs: number;
  /** Beyond the time in which a bare loop makes the writes that end the batch. */
  readonly overheadP50Ms: number;
  readonly overheadMostMs: number;
  /** From the first to the last machine of a batch that is assigned. */
  readonly assignMostMs: number;
}

export function batchOverhead(unordered: readonly BatchTimes[], bareMsOfMachine: number): BatchOverhead {
  const times = unordered.toSorted((a, b) => a.firstAssignedMs - b.firstAssignedMs);
  const between = times.slice(1).map(({ firstAssignedMs }, index) => {
    const before = times[index];
    const ms = firstAssignedMs - (before?.settledMs ?? Number.NaN);
    return { ms, overhead: Math.max(0, ms - bareMsOfMachine * (before?.machines ?? 0)) };
  });
  const all = between.map(({ ms }) => ms);
  const overheads = between.map(({ overhead }) => overhead);
  return {
    batches: times.length,
    betweenP50Ms: percentile(all, 0.5),
    betweenMostMs: percentile(all, 1),
    overheadP50Ms: percentile(overheads, 0.5),
    overheadMostMs: percentile(overheads, 1),
    assignMostMs: Math.max(...times.map((each) => each.lastAssignedMs - each.firstAssignedMs)),
  };
}
