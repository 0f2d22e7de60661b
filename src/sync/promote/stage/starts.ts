/** Which clusters of a stage start now, within the limits of promotion. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { type ClusterRollout, skipsSoak, usesSlot } from '../cluster/rollout.ts';
import { isUnproven, type MemberContext } from '../cluster/stage-member.ts';
import { type StartKind, type StartRequest, startLimit } from '../limits.ts';
import { failedClusters } from './rollout.ts';

export interface StageStarts extends Omit<StartRequest, 'total' | 'busy' | 'failed' | 'who' | 'now'> {
  readonly commit: string;
  readonly context: MemberContext;
}

/**
 * That a cluster is unreachable hides in its record whether it waited for a paused unit before, and so had no slot. It keeps the
 * slot when it answers again, unless more clusters are busy than may be.
 */
export function withLostSlots(
  rollouts: readonly ClusterRollout[],
  request: StageStarts,
): readonly ClusterRollout[] {
  const holders = rollouts.filter(usesSlot);
  const { slots } = limitsOf(rollouts, request, holders.length).Continued;
  const lost = slots < 0 ? holders.filter(hasReturned).slice(slots) : [];
  return rollouts.map((rollout) => (lost.includes(rollout) ? { ...rollout, hasLostSlot: true } : rollout));
}

type LimitsByKind = Readonly<Record<StartKind, Limit>>;

function limitsOf(rollouts: readonly ClusterRollout[], request: StageStarts, busy: number): LimitsByKind {
  const full = {
    ...request,
    busy,
    total: rollouts.length,
    failed: failedClusters(rollouts),
    now: request.context.now,
  };
  return {
    New: startLimit({ ...full, who: 'New' }),
    Revert: startLimit({ ...full, who: 'Revert' }),
    Continued: startLimit({ ...full, who: 'Continued' }),
  };
}

/** A cluster that is under way finishes also while the stage is closed. */
function startKind(rollout: ClusterRollout, { commit, context }: StageStarts): StartKind {
  if (rollout.hasContent) return 'Continued';
  return skipsSoak(rollout, commit, context) ? 'Revert' : 'New';
}

function hasReturned({ member: { recorded, reachability } }: ClusterRollout): boolean {
  return recorded.state === 'Unreachable' && reachability.state === 'Reachable';
}

export interface ChosenStarts {
  readonly starts: ReadonlyMap<string, string>;
  /** The limit that new clusters wait for. */
  readonly limit: Limit;
  /** Returns the limit that a cluster waits for. */
  readonly limitFor: (rollout: ClusterRollout) => Limit;
}

/** Chooses which clusters start or continue now, and names the limits that the others wait for. */
export function chooseStarts(rollouts: readonly ClusterRollout[], request: StageStarts): ChosenStarts {
  const busy = rollouts.filter(usesSlot).length;
  const before = limitsOf(rollouts, request, busy);
  const queue = rollouts
    .filter((rollout) => rollout.state === 'NotStarted' || needsSlot(rollout))
    .toSorted((a, b) => startPriority(a) - startPriority(b));
  const starts = new Map<string, string>();
  for (const rollout of queue) {
    if (before[startKind(rollout, request)].slots <= starts.size) continue;
    const because = rollout.hasContent
      ? 'continues where it stopped'
      : `started in stage ${request.stage.name}`;
    starts.set(rollout.member.name, because);
  }
  const after = limitsOf(rollouts, request, busy + starts.size);
  return { starts, limit: after.New, limitFor: (rollout) => after[startKind(rollout, request)] };
}

/** Tells whether the cluster needs a slot again: it was away in the middle of its rollout, and others may have got its slot. */
function needsSlot(rollout: ClusterRollout): boolean {
  const { state, member, hasContent } = rollout;
  const isStarted = state === 'Applying' || state === 'Soaking' || state === 'Held';
  return hasContent && isStarted && isUnproven(member) && !usesSlot(rollout);
}

/** Clusters with unfinished content of a replaced commit first, then failed ones, then returning ones, then the rest by name. */
function startPriority({ member, hasContent }: ClusterRollout): number {
  if (!hasContent && isUnproven(member)) return 0;
  if (!hasContent && member.progress.state === 'Failed') return 1;
  return hasContent ? 2 : 3;
}

/** The state of a cluster after the choice: it starts, or waits for the limit. */
export function afterStart(
  rollout: ClusterRollout,
  starts: ReadonlyMap<string, string>,
  limit: Limit,
): ClusterRollout {
  const isNotStarted = rollout.state === 'NotStarted';
  const because = starts.get(rollout.member.name);
  if (because !== undefined) {
    return isNotStarted ? { ...rollout, state: 'Applying', reason: 'Applying', because } : rollout;
  }
  if (!isNotStarted && !needsSlot(rollout) && !losesSlot(rollout, limit)) return rollout;
  const { reason, because: limitBecause, blocker, until } = limit;
  return {
    ...rollout,
    state: 'NotStarted',
    reason,
    because: limitBecause,
    ...optional('blocker', blocker),
    ...optional('until', until),
  };
}

/** A held plan has written nothing yet. If it were released after the budget is spent, one more cluster would start. */
function losesSlot({ state }: ClusterRollout, { reason }: Limit): boolean {
  return state === 'Held' && reason === 'FailureBudgetSpent';
}
