/**
 * Defines a trace as what the objects record of a change or a repair: its steps, of which each has its parts. `kubenode why` prints the steps,
 * and the spans that are exported are made of them.
 */
import { hash } from 'node:crypto';

export type TraceAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TraceStep {
  /** Unique among the parts of one step, and the same each time the step is read: its span ID is made of it. */
  readonly key: string;
  /** The same for all steps of a sort, because tools group spans by it. */
  readonly name: string;
  /** Names this step among those of its sort, for people. */
  readonly subject?: string | undefined;
  /** Absent: it has not begun, or its beginning was not recorded. */
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly outcome: StepOutcome;
  /** The state as its object has it. */
  readonly state?: string | undefined;
  /** The reason for programs of a step that failed. */
  readonly reason?: string | undefined;
  /** The explanation for people. */
  readonly because?: string | undefined;
  readonly attributes?: TraceAttributes | undefined;
  readonly events?: readonly TraceEvent[] | undefined;
  readonly steps?: readonly TraceStep[] | undefined;
}

/** Unset: neither a success nor a failure, such as what a newer commit replaced. */
export type StepOutcome = 'Ok' | 'Error' | 'Unset';

/** A moment within a step. */
export interface TraceEvent {
  readonly name: string;
  readonly at: string;
  readonly attributes?: TraceAttributes;
}

/** Set where a time was moved: two clocks did not agree. */
export const TIME_ADJUSTED = 'kubenode.time_adjusted';

/** Names a span of this or another trace. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface Trace {
  readonly traceId: string;
  readonly root: TraceStep;
  /** The span of which the root is a part, where another process exports it. */
  readonly parentSpanId?: string | undefined;
  /** The spans of other traces that led to it. */
  readonly links?: readonly SpanContext[];
}

/** The same for the same seed in every process: what is exported again has the same IDs. OTLP has no way to replace a span. */
export function traceIdOf(seed: string): string {
  return hash('sha256', `kubenode/trace/${seed}`).slice(0, 32);
}

/** `path` has the keys of the step and of those that it is a part of. */
export function spanIdOf(traceId: string, path: readonly string[]): string {
  return hash('sha256', JSON.stringify([traceId, ...path])).slice(0, 16);
}

const CHANGE_KEY = 'change';

/** Names the span of a commit: its releases on a hub and its rollouts in the clusters are parts of it. */
export function changeSpan(commit: string): SpanContext {
  const traceId = traceIdOf(`commit/${commit}`);
  return { traceId, spanId: spanIdOf(traceId, [CHANGE_KEY]) };
}
