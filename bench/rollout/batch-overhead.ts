/** The time between two batches, and how much of it is not explained by the writes that end the first one. Pure. */
import { percentile } from '../bench.ts';
import type { BatchTimes } from './fleet.ts';

export interface BatchOverhead {
  readonly batches: number;
  /** From one batch to the next, in order. */
  readonly between: readonly BetweenBatches[];
  /** From the last report of a batch to the first machine of the next one. */
  readonly betweenP50Ms: number;
  readonly betweenMostMs: number;
  /** Beyond the time in which a bare loop makes the writes that end the batch. */
  readonly overheadP50Ms: number;
  readonly overheadMostMs: number;
  /** From the first to the last machine of a batch that is assigned. */
  readonly assignMostMs: number;
}

export interface BetweenBatches {
  /** Of the first of the two. */
  readonly machines: number;
  readonly ms: number;
  readonly overheadMs: number;
}

export function batchOverhead(unordered: readonly BatchTimes[], bareMsOfMachine: number): BatchOverhead {
  const times = unordered.toSorted((a, b) => a.firstAssignedMs - b.firstAssignedMs);
  const between = times.slice(1).map(({ firstAssignedMs }, index) => {
    const { settledMs = Number.NaN, machines = 0 } = times[index] ?? {};
    const ms = firstAssignedMs - settledMs;
    return { machines, ms, overheadMs: Math.max(0, ms - bareMsOfMachine * machines) };
  });
  const all = between.map(({ ms }) => ms);
  const overheads = between.map(({ overheadMs }) => overheadMs);
  return {
    batches: times.length,
    between,
    betweenP50Ms: percentile(all, 0.5),
    betweenMostMs: percentile(all, 1),
    overheadP50Ms: percentile(overheads, 0.5),
    overheadMostMs: percentile(overheads, 1),
    assignMostMs: Math.max(...times.map((each) => each.lastAssignedMs - each.firstAssignedMs)),
  };
}
