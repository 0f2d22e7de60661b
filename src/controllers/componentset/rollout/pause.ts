/** The clock of a soak stands still while a set is paused. A person who pauses and resumes also ends a stop. Pure. */

import { withoutCheckRuns } from './checks/count.ts';
import { withoutUnknownRuns } from './failure/unknown-health.ts';
import type { RolloutProgress } from './input.ts';

export function pauseClock(isPaused: boolean, progress: RolloutProgress, now: Date): RolloutProgress {
  const { pausedAt, ...rest } = progress;
  if (isPaused) return { ...rest, pausedAt: pausedAt ?? now };
  if (!pausedAt) return rest;
  const { stopped, ...resumed } = rest;
  const running = withoutUnknownRuns(stopped ? withoutCheckRuns(resumed) : resumed);
  const { batch } = running;
  if (!batch?.soakUntil) return running;
  const soakUntil = new Date(+batch.soakUntil + +now - +pausedAt);
  return { ...running, batch: { ...batch, soakUntil } };
}
