/**
 * Asks Prometheus the queries that rules read, each for all machines at once, and keeps the last answers in memory. A query is asked while
 * it is read: a process whose rules read none asks nothing.
 */

import type { Log } from '../../kube/process/log.ts';
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import type { Prometheus } from '../../observability/query/client.ts';
import type { Clock } from '../../os/clock.ts';
import type { KnownMetric } from '../facts/reading/snapshot.ts';
import { type MachineSample, type MetricAnswer, readMachineSamples } from './metric-samples.ts';

export interface MetricReader {
  /** Returns what is known for a machine, or why nothing is. From then on the query is asked in the background. */
  readonly ask: (query: string, machine: string) => KnownMetric | string;
  /** Asks these queries once, at once. */
  readonly refresh: (queries: readonly string[]) => Promise<void>;
  /** Calls the listener when the value for a machine changed. Returns a function that ends this. */
  readonly onChange: (listener: (machine: string, query: string) => void) => () => void;
  readonly close: () => void;
}

export interface MetricReaderOptions {
  readonly prometheus: Prometheus;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** Asks only in `refresh`: for a command that reads once. */
  readonly isOnce?: boolean;
}

const INTERVAL_MS = 30_000;
/** Machines with an unknown value are read again within the maximum age of the fact, so a query that is in use is read far more often. */
const FORGET_MS = 900_000;
/** The oldest are asked: a new rule takes nothing from the others. */
const MAX_QUERIES = 32;
/** With 10 s for each query, a round takes 80 s at most: less than an answer is trusted. */
const AT_ONCE = 4;

interface Followed {
  readAtMs: number;
  /** The last good answer, from the moment when it was asked for. */
  good?: { readonly samples: ReadonlyMap<string, MachineSample>; readonly atMs: number };
  /** Why the last answer was not good. */
  problem?: string | undefined;
}

export function createMetricReader({
  prometheus,
  clock,
  log,
  isOnce = false,
}: MetricReaderOptions): MetricReader {
  const queries = new Map<string, Followed>();
  const listeners = new Set<(machine: string, query: string) => void>();
  const stop = new AbortController();
  let isRunning = false;
  let isAskingNew = false;
  return {
    ask: (query, machine) => {
      const followed = follow(query);
      if (followed === undefined) return TOO_MANY;
      if (!isOnce) void run();
      return knownOf(followed, machine, clock.monotonicMs());
    },
    refresh: async (asked) => {
      const followed = [...new Set(asked)].filter((query) => follow(query) !== undefined);
      await runConcurrently(followed, askOne, AT_ONCE);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => stop.abort(),
  };

  function follow(query: string): Followed | undefined {
    const present = queries.get(query);
    const readAtMs = clock.monotonicMs();
    if (present) {
      present.readAtMs = readAtMs;
      return present;
    }
    if (queries.size >= MAX_QUERIES) return undefined;
    const created: Followed = { readAtMs };
    queries.set(query, created);
    if (!isOnce) void askNew();
    return created;
  }

  /** Asks again round by round, until no query is read or the reader is closed. */
  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (queries.size > 0 && (await isNextDue())) {
      const since = clock.monotonicMs() - FORGET_MS;
      for (const [query, { readAtMs }] of queries) if (readAtMs < since) queries.delete(query);
      await runConcurrently([...queries.keys()], askOne, AT_ONCE); // oxlint-disable-line no-await-in-loop -- one round after the other
    }
    isRunning = false;
  }

  /** Waits between two rounds. False: the reader is closed. */
  async function isNextDue(): Promise<boolean> {
    return await clock.sleep(INTERVAL_MS, stop.signal).then(
      () => true,
      () => false,
    );
  }

  /** Asks the queries that are new at once, after all of this turn are known. */
  async function askNew(): Promise<void> {
    if (isAskingNew) return;
    isAskingNew = true;
    await Promise.resolve();
    isAskingNew = false;
    const asked = [...queries].filter(([, followed]) => isNew(followed)).map(([query]) => query);
    await runConcurrently(asked, askOne, AT_ONCE);
  }

  async function askOne(query: string): Promise<void> {
    const atMs = clock.monotonicMs();
    const answer = readMachineSamples(await prometheus.query(query), clock.now());
    const followed = queries.get(query);
    if (!followed || stop.signal.aborted) return;
    if ('problem' in answer && followed.problem === undefined) {
      log.warn('A query of rules has no answer', { query, ...answer });
    }
    for (const machine of recordAnswer(followed, answer, atMs)) {
      for (const listener of listeners) listener(machine, query);
    }
  }
}

/** Returns the machines for which the answer is news. */
function recordAnswer(followed: Followed, answer: MetricAnswer, atMs: number): readonly string[] {
  if ('problem' in answer) {
    followed.problem = answer.problem;
    return [];
  }
  // While there was no good answer, rules may have found the last one too old: then each value is news.
  const before = followed.problem === undefined ? followed.good?.samples : undefined;
  followed.good = { samples: answer.samples, atMs };
  followed.problem = undefined;
  return changedMachines(before, answer.samples);
}

function isNew({ good, problem }: Followed): boolean {
  return !good && problem === undefined;
}

function knownOf({ good, problem }: Followed, machine: string, nowMs: number): KnownMetric | string {
  if (!good) return problem ?? 'Prometheus was not asked yet';
  const sample = good.samples.get(machine) ?? NO_SAMPLE;
  return { sample, ageMs: nowMs - good.atMs, problem };
}

const TOO_MANY = `rules read more than ${MAX_QUERIES} queries`;
const NO_SAMPLE = 'the query has no sample for the machine';

function changedMachines(
  before: ReadonlyMap<string, MachineSample> | undefined,
  after: ReadonlyMap<string, MachineSample>,
): readonly string[] {
  const all = new Set([...(before?.keys() ?? []), ...after.keys()]);
  return [...all].filter((machine) => before?.get(machine) !== after.get(machine));
}
