/** Decides which of the traces that have ended are exported now. Pure. */
import type { Trace } from '../trace.ts';

/** The sorts of traces, for metrics and logs. */
export const TRACED = ['repair', 'rollout', 'change'] as const;

export interface EndedTrace {
  /** The same each time it is read. */
  readonly key: string;
  readonly what: (typeof TRACED)[number];
  readonly endedAt: string;
  /** Called for a trace that is sent. */
  readonly trace: () => Trace;
}

/**
 * A process that starts exports what ended within the last hour again, with the same IDs, because it may not have been exported. A collector that
 * is away for longer misses the traces.
 */
export const EXPORT_WITHIN_MS = 3_600_000;

/** An end in the future is that of another clock: it counts as now. */
export function isExportable({ endedAt }: Pick<EndedTrace, 'endedAt'>, now: Date): boolean {
  return now.getTime() - Date.parse(endedAt) < EXPORT_WITHIN_MS;
}
