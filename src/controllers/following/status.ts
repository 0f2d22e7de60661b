/** Reports what is followed, and what is not and why: once for each change. Another process reports once more. */
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Gauge } from '../../kube/process/metrics.ts';
import { type FollowOwner, isUnreadable, type OwnerObject, type Unreadable } from './owner.ts';
import type { FollowPlan, Unfollowed } from './plan.ts';

export type FollowState = 'Followed' | 'Waiting' | 'Refused';
export type FollowGauge = Pick<Gauge<'state'>, 'set'>;

export interface FollowReport {
  report(theirs: readonly OwnerObject[] | Unreadable, plan: FollowPlan, context: ReconcileContext): void;
}

export function createFollowReport(
  { logRead }: Pick<FollowOwner<OwnerObject>, 'logRead'>,
  gauge: FollowGauge | undefined,
): FollowReport {
  let unreadable: string | undefined;
  let refused: ReadonlyMap<string, string> = new Map();
  return {
    report(theirs, { unfollowed }, { log }) {
      const because = isUnreadable(theirs) ? theirs.unreadable : undefined;
      if (because !== unreadable) logRead(log, because);
      unreadable = because;
      if (isUnreadable(theirs)) return;
      for (const [state, count] of countStates(theirs.length, unfollowed)) {
        gauge?.set({ state }, count);
      }
      const refusals = unfollowed.filter(({ state }) => state === 'Refused');
      tellRefused(
        refusals.filter(({ machine, message }) => refused.get(machine) !== message),
        log,
      );
      refused = new Map(refusals.map(({ machine, message }) => [machine, message]));
    },
  };
}

function tellRefused(refusals: readonly Unfollowed[], log: Log): void {
  for (const { machine, reason, message } of refusals) {
    log.warn('machine not followed', { machine, reason, because: message });
  }
}

function countStates(
  all: number,
  unfollowed: readonly Unfollowed[],
): readonly (readonly [FollowState, number])[] {
  const count = (expected: Unfollowed['state']): number =>
    unfollowed.filter(({ state }) => state === expected).length;
  return [
    ['Followed', all - unfollowed.length],
    ['Waiting', count('Waiting')],
    ['Refused', count('Refused')],
  ];
}
