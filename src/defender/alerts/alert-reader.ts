/** Asks Prometheus the queries that policies name, in the background: one round at a time, and never within a decision. */
import type { DefenderPolicy } from '../../api/generated/types.ts';
import type { Prometheus } from '../../observability/query/client.ts';
import type { Clock } from '../../os/clock.ts';
import { alertResult } from './alert-state.ts';
import type { AskedAlert } from './recorded-alerts.ts';

export interface AlertReader {
  /** Starts a round, unless one is in progress or began less than half a minute ago. */
  refresh(policies: readonly DefenderPolicy[]): void;
  /** Undefined: the query was not answered yet. */
  result(query: string): AskedAlert | undefined;
  /** Resolves once no round is in progress. */
  idle(): Promise<void>;
}

const INTERVAL_MS = 30_000;
/** Each is asked in every round. What is beyond is Unknown, and policies that name it deny. */
export const MAX_QUERIES = 32;
/** With 10 s for each query, a round takes 80 s at most: less than an answer is trusted. */
const AT_ONCE = 4;

export function createAlertReader({
  prometheus,
  clock,
}: {
  readonly prometheus: Prometheus;
  readonly clock: Clock;
}): AlertReader {
  const results = new Map<string, AskedAlert>();
  let round: Promise<void> | undefined;
  let beganAt = Number.NEGATIVE_INFINITY;
  return {
    refresh(policies) {
      if (round || clock.monotonicMs() - beganAt < INTERVAL_MS) return;
      beganAt = clock.monotonicMs();
      round = askAll(queriesOf(policies)).finally(() => {
        round = undefined;
      });
    },
    result: (query) => results.get(query),
    idle: async () => await round,
  };

  async function askAll(queries: readonly string[]): Promise<void> {
    for (const query of queries.slice(MAX_QUERIES)) results.set(query, tooMany(clock.now()));
    const left = queries.slice(0, MAX_QUERIES);
    const askNext = async (): Promise<void> => {
      for (let query = left.shift(); query !== undefined; query = left.shift()) {
        const at = clock.now();
        const answer = await prometheus.query(query); // oxlint-disable-line no-await-in-loop -- so many at once
        results.set(query, { ...alertResult(answer, clock.now()), at });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askNext));
    const named = new Set(queries);
    for (const query of results.keys()) if (!named.has(query)) results.delete(query);
  }
}

function tooMany(at: Date): AskedAlert {
  return { state: 'Unknown', message: `policies name more than ${MAX_QUERIES} queries`, at };
}

function queriesOf(policies: readonly DefenderPolicy[]): readonly string[] {
  const all = policies.flatMap(({ spec }) => spec.blockers.promql.map(({ query }) => query));
  return [...new Set(all)].toSorted();
}
