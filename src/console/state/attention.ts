/** What a person has to look at first, so that it is shown above the fleet however large that is. Pure; runs in the page. */
import type { RepairCard, RolloutCard } from './state.ts';

/** It waits for a person, it has stopped, or machines fail while it goes on. */
export function rolloutNeedsAttention({ state, failed }: Pick<RolloutCard, 'state' | 'failed'>): boolean {
  return state === 'NeedsPerson' || state === 'Failed' || (state === 'Running' && failed > 0);
}

/** One that failed is over: what is left to do is a repair, a job or a note of its own. */
export function repairNeedsAttention({ state }: Pick<RepairCard, 'state'>): boolean {
  return state === 'NeedsPerson';
}
