/**
 * Keeps the facts of all nodes current by the views of this process. Reading is synchronous and reads only memory, so no source
 * can make it wait; a source that fails, or whose view is not current, makes its own facts unknown and no others.
 */
import type { Clock } from '../../os/clock.ts';
import { FACT_KINDS } from '../catalog.ts';
import { createTimePoints } from '../clocks/time-point.ts';
import { type CompiledRule, type FactReader, type FactRef, type MaxAge } from '../compiled-rule.ts';
import { type FactAnswer, unknownAnswer } from '../facts/reading/answer.ts';
import type { NodeSnapshot } from '../facts/reading/snapshot.ts';
import type { FactViews } from '../views.ts';
import type { FactChange } from './fact-changes.ts';
import { createFactTracker } from './fact-tracker.ts';
import type { MetricReader } from './metric-reader.ts';
import type { NodeFacts } from './node-facts.ts';
import { maxAgeMs } from './rule-index.ts';
import { nextThresholdMs } from './time-thresholds.ts';
import type { WorkloadReader } from './workload-reader.ts';

export interface LiveFacts extends NodeFacts {
  /** Calls the listener at each change, also at one of a Node without a Machine. Returns a function that ends this. */
  onChange(listener: (change: FactChange) => void): () => void;
  /** Returns for people why the reading of this fact is UNKNOWN_READING; undefined when it is not. */
  unknownReason(machine: string, ref: FactRef, maxAge: CompiledRule['maxAge']): string | undefined;
  /** Returns the time after which the outcome of the rule can differ although nothing changed. Infinity: never. */
  dueInMs(machine: string, rule: CompiledRule): number;
  /**
   * Returns the time by the clock of the API server: for the timestamps in `Machine.status.faults`, which the next process reads
   * with it.
   */
  now(): Date;
  close(): void;
}

export interface LiveFactsOptions {
  readonly views: FactViews;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Our wall clock minus that of the API server, as `CallWindow` measures it: otherwise a jump of it shifts what an earlier process recorded. */
  readonly skewSeconds?: () => number | undefined;
  /** How long a view may be without contact to the API server before its objects are unknown. */
  readonly maxViewAgeMs?: number;
  /** A command that reads once counts a condition from its last transition, where no controller recorded when it began. */
  readonly startsAtTransition?: boolean;
  /** Why the views do not have all nodes: set by a command that reads one. */
  readonly fleetProblem?: string;
  /** Reads Pods for gates that ask about them. Absent: what they run is unknown. */
  readonly workloads?: WorkloadReader;
  /** Asks Prometheus what rules read of it. Absent: what it has is unknown. */
  readonly metrics?: MetricReader;
}

type AskFact = (ref: FactRef, maxAge: MaxAge | undefined) => FactAnswer;

export function createLiveFacts({
  views,
  clock,
  skewSeconds,
  maxViewAgeMs,
  startsAtTransition = false,
  fleetProblem,
  workloads,
  metrics,
}: LiveFactsOptions): LiveFacts {
  const readTime = createTimePoints(clock, skewSeconds);
  const tracker = createFactTracker({
    views,
    readTime,
    maxViewAgeMs,
    startsAtTransition,
    fleetProblem,
    workloads,
    metrics,
  });
  return {
    onChange: (listener) => tracker.onChange(listener),
    now: () => readTime().at,
    close: () => tracker.close(),
    read: (machine, maxAge) => {
      const ask = createAsk(machine);
      return (ref) => ask(ref, maxAge.get(ref.fact)).reading;
    },
    unknownReason: (machine, ref, maxAge) => createAsk(machine, false)(ref, maxAge.get(ref.fact)).unknown,
    dueInMs: (machine, rule) => {
      // Also for rules whose gate is not evaluated now: nothing is read for it.
      const ask = createAsk(machine, false);
      const facts: FactReader = (ref) => ask(ref, rule.maxAge.get(ref.fact)).reading;
      const answers = rule.reads.map((ref) => ask(ref, rule.maxAge.get(ref.fact)).changesInMs);
      return Math.max(0, Math.min(nextThresholdMs(rule, facts), ...answers.map((ms) => ms + PAST_MS)));
    },
  };

  /** All facts of one evaluation are of the same point. */
  function createAsk(machine: string, asks = true): AskFact {
    let snapshot: NodeSnapshot | undefined;
    return ({ fact, params }, maxAge) => {
      try {
        const read = FACT_KINDS.get(fact)?.read;
        if (!read) return unknownAnswer(`fact ${fact} has no source`);
        snapshot ??= tracker.snapshot(machine, asks);
        return read(snapshot, params, maxAgeMs(maxAge));
      } catch (error) {
        return unknownAnswer(`fact ${fact} could not be read: ${String(error)}`);
      }
    };
  }
}

/** How far past the maximum age a fact becomes unknown: an age may be exactly the maximum age. */
const PAST_MS = 1;
