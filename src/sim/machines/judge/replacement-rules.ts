/** Judges what jobs ask for: a machine that came back is not replaced, and no more instances are kept than allowed, for no longer. */
import type { Machine } from '../../../api/generated/types.ts';
import { isKept } from '../../../api/machine/kept.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { KEEP } from '../set-repairs.ts';
import { VIEW_DELAY_MS } from './recent.ts';
import type { SetTruth } from './set-truth.ts';

export interface ReplacementRules {
  /** Judges the machines that are kept. Called in each step. */
  observe(): readonly string[];
  /** Returns how many machines jobs had created before others are deleted. */
  surge(): number;
  /** Tells whether a job replaces the machine, under its own grant. */
  isReplaced(machine: Machine): boolean;
  /** Tells whether every controller knows that the machine is Ready again. */
  hasReturned(machine: Machine): boolean;
}

export interface ReplacementRulesOptions {
  readonly truth: Pick<SetTruth, 'members' | 'live' | 'grantOf'>;
  readonly nowMs: () => number;
}

export function createReplacementRules({ truth, nowMs }: ReplacementRulesOptions): ReplacementRules {
  let markedMs = Number.NEGATIVE_INFINITY;
  let fewMs = nowMs();
  return {
    observe: () => {
      if (truth.live().some(isMarked)) markedMs = nowMs();
      if (truth.members().filter(isKeptNow).length <= KEEP.max) fewMs = nowMs();
      const isLong = truth.members().some(({ status }) => keptMs(status?.kept) > KEEP.holdSeconds * 1000);
      return [
        ...(isRecent(fewMs) ? [] : ['more instances are kept than allowed']),
        ...(isLong ? ['an instance is kept for longer than asked'] : []),
      ];
    },
    surge: () => (isRecent(markedMs) || truth.live().some(isMarked) ? 1 : 0),
    isReplaced,
    hasReturned: (machine) => {
      const ready = conditionOf(machine.status?.conditions, 'Ready');
      const isKnown = ready?.status === 'True' && !isRecent(Date.parse(ready.lastTransitionTime));
      return isReplaced(machine) && isKnown;
    },
  };

  function isReplaced(machine: Machine): boolean {
    return isMarked(machine) && truth.grantOf(machine)?.action === 'ReplaceMachine';
  }

  function isKeptNow(machine: Machine): boolean {
    return isKept(machine) && Date.parse(machine.status?.kept?.until ?? '') > nowMs();
  }

  function isRecent(atMs: number): boolean {
    return nowMs() - atMs <= VIEW_DELAY_MS;
  }
}

function isMarked({ status }: Machine): boolean {
  return status?.replacement?.wasReady === false;
}

function keptMs(kept: NonNullable<Machine['status']>['kept']): number {
  return kept ? Date.parse(kept.until) - Date.parse(kept.since) : 0;
}
