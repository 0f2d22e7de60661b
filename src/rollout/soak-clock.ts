/**
 * Clock arithmetic of a soak. Only time in which health was observed counts: the status records when each clock started and
 * when health was last observed, and an unobserved gap moves the clocks forward by its length. Pure.
 */
import type { GateRuns } from '../api/generated/types.ts';
import { optional } from '../kube/objects/optional.ts';

/** A longer gap between two healthy observations does not count as soak time. */
export const MAX_GAP_MS = 120_000;
/** How often a running soak is recorded: at most half of MAX_GAP_MS, so that a restart loses no soak time. */
export const RECORD_EVERY_MS = 60_000;

export interface SoakRecord {
  /** When everything was first observed applied and healthy. */
  readonly settledAt?: string;
  /** When health was last observed to be good. */
  readonly observedAt?: string;
  readonly clocks?: readonly { readonly since: string }[];
  readonly gates?: readonly GateRuns[];
}

/**
 * Excludes the time since the last healthy observation if it is longer than MAX_GAP_MS. If the wall clock was set back, every
 * recorded moment moves with it: the soaked time neither grows nor shrinks.
 */
export function excludeGap<S extends SoakRecord>(soak: S, at: Date): S {
  if (soak.observedAt === undefined) return soak;
  const gap = +at - Date.parse(soak.observedAt);
  if (gap >= 0 && gap <= MAX_GAP_MS) return soak;
  const clocks = shiftClocks(soak, gap);
  if (gap > 0) return { ...soak, clocks };
  return {
    ...soak,
    clocks,
    ...optional('settledAt', soak.settledAt && shift(soak.settledAt, gap)),
    gates: (soak.gates ?? []).map(({ ranAt, ...gate }) => {
      return { ...gate, ...optional('ranAt', ranAt && notAfter(shift(ranAt, gap), at)) };
    }),
  };
}

/**
 * Health was observed not to be good: the time until the next healthy observation does not count, however short it is. Only
 * `observedAt` can record that, so it moves back, with the clocks, to where the gap is too long to count.
 */
export function stopSoak<S extends SoakRecord>(soak: S, now: Date): S {
  if (soak.observedAt === undefined || +now - Date.parse(soak.observedAt) > MAX_GAP_MS) return soak;
  const isInFuture = Date.parse(soak.observedAt) > +now;
  const running = isInFuture ? { ...excludeGap(soak, now), observedAt: now.toISOString() } : soak;
  const observedAt = new Date(+now - MAX_GAP_MS - 1).toISOString();
  const back = Date.parse(observedAt) - Date.parse(notAfter(soak.observedAt, now));
  return { ...running, clocks: shiftClocks(running, back), observedAt };
}

/** When the last clock has soaked if health stays good. Undefined before it has settled. */
export function soakEndsAt({ clocks, settledAt }: SoakRecord, soakSeconds: number): Date | undefined {
  if (settledAt === undefined) return undefined;
  const ends = (clocks ?? []).map(({ since }) => Date.parse(since) + soakSeconds * 1000);
  return new Date(Math.max(Date.parse(settledAt), ...ends));
}

/** A recorded moment is in the future after the clock was set back. */
export function notAfter(moment: string, now: Date): string {
  return Date.parse(moment) > +now ? now.toISOString() : moment;
}

function shiftClocks<C extends { readonly since: string }>(
  { clocks = [] }: { readonly clocks?: readonly C[] },
  ms: number,
): readonly C[] {
  return clocks.map((clock) => ({ ...clock, since: shift(clock.since, ms) }));
}

function shift(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString();
}
