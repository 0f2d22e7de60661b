/** The clock of a soak stands still while a set is paused. Pure. */
import type { RolloutProgress } from './input.ts';

export function pauseClock(isPaused: boolean, progress: RolloutProgress, now: Date): RolloutProgress {
  const { pausedAt, ...running } = progress;
  if (isPaused) return { ...running, pausedAt: pausedAt ?? now };
  const { batch } = running;
  if (!pausedAt || !batch?.soakUntil) return running;
  const soakUntil = new Date(+batch.soakUntil + +now - +pausedAt);
  return { ...running, batch: { ...batch, soakUntil } };
}
