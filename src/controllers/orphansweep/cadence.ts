/** Decides when instances are swept. Between two sweeps only deletions that were begun go on, so that a sweep keeps its limit. Pure. */

export interface SweepProgress {
  /** When the last sweep read the instances, in monotonic milliseconds. Undefined: this process has not swept. */
  readonly sweptMs: number | undefined;
  /** How many deletions were begun and have not ended. */
  readonly begun: number;
}

/** Two sightings are ten minutes apart: an orphan is deleted twenty minutes after it is listed, at the latest, while nothing denies it. */
export const SWEEP_SECONDS = 600;
/** A cloud ends an instance within a minute: its grant is settled then. */
const DELETING_SECONDS = 30;

export function isSweepDue({ sweptMs }: Pick<SweepProgress, 'sweptMs'>, nowMs: number): boolean {
  return secondsLeft(sweptMs, nowMs) <= 0;
}

/** Returns after how many seconds the provider is asked again. */
export function pauseSeconds({ sweptMs, begun }: SweepProgress, nowMs: number): number {
  const left = Math.max(0, secondsLeft(sweptMs, nowMs));
  return begun > 0 ? Math.min(DELETING_SECONDS, left) : left;
}

function secondsLeft(sweptMs: number | undefined, nowMs: number): number {
  return sweptMs === undefined ? 0 : SWEEP_SECONDS - (nowMs - sweptMs) / 1000;
}
