/** The soaks of the commits: how much of each is over. Pure; runs in the page. */
import type { StagePlace } from '../fleet.ts';
import type { ConsoleState } from '../state.ts';

export interface StageSoak {
  readonly commit: string;
  readonly until: string;
  /** From 0 to 1. */
  readonly done: number;
}

/** Returns the soaks of a stage of a Pipeline. A commit that another one replaced soaks no more. */
export function stageSoaks(
  commits: ConsoleState['commits'],
  { pipeline, stage }: StagePlace,
  nowMs: number,
): readonly StageSoak[] {
  return Object.values(commits).flatMap(({ commit, pipeline: own, stages }) => {
    if (own !== pipeline) return [];
    const found = stages.find(({ name }) => name === stage);
    if (found?.state !== 'Soaking' || found.soakUntil === undefined) return [];
    const [start, end] = [Date.parse(found.since ?? ''), Date.parse(found.soakUntil)];
    return [{ commit, until: found.soakUntil, done: shareOf(nowMs - start, end - start) }];
  });
}

/** A soak without a known start has no share. */
function shareOf(part: number, whole: number): number {
  return part >= 0 && whole > 0 ? Math.min(1, part / whole) : 0;
}
