/** What a person has to look at first, so that it is shown above the fleet however large that is. Pure; runs in the page. */
import type { RepairCard, RolloutCard } from './state.ts';

/** It waits for a person, it has stopped, or machines fail while it goes on or fell behind after it completed. */
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

/** One that failed is over: what is left to do is a repair, a job or a note of its own. */
export function repairNeedsAttention({ state }: Pick<RepairCard, 'state'>): boolean {
  return state === 'NeedsPerson';
}
