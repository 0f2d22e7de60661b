/** Decides what a person has to look at first, so that it is shown above the fleet however large that is. Pure; runs in the page. */
import type { RepairCard, RolloutCard } from './state.ts';

/**
 * Tells whether a rollout waits for a person, has stopped, has machines that fail while it runs, or has some that fell behind and fail
 * after it completed.
 */
export function rolloutNeedsAttention({
  state,
  failed,
  isBehind,
}: Pick<RolloutCard, 'state' | 'failed' | 'isBehind'>): boolean {
  return (
    state === 'NeedsPerson' ||
    state === 'Failed' ||
    (failed > 0 && (state === 'Running' || isBehind === true))
  );
}

/** Tells whether a repair waits for a person. One that failed is over: what is left to do is a repair, a job or a note of its own. */
export function repairNeedsAttention({ state }: Pick<RepairCard, 'state'>): boolean {
  return state === 'NeedsPerson';
}
