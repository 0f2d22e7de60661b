/** Summarizes how far the clusters of a stage are with the commit that the stage is on. Pure. */

import type { ReleaseStageClusters, Stage } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { firstMoment } from '../../../os/dates.ts';
import { type Explanation } from '../../../rollout/explanation.ts';
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import { MAX_NAMES } from '../bounds.ts';
import { type ClusterRollout, skipsSoak } from '../cluster/rollout.ts';
import {
  type ClusterRolloutState,
  EXPLANATION_ORDER,
  ROLLOUT_STATES,
  type RolloutStateRow,
} from '../cluster/rollout-state.ts';
import { isUnproven, type MemberContext } from '../cluster/stage-member.ts';
import { failureBudgetLimit } from '../limits.ts';

export interface StageRollout {
  readonly state: 'Promoting' | 'Soaking' | 'Proven' | 'Failed';
  /** Why it is not proven yet; absent if it is. */
  readonly wait?: Explanation;
}

function countsAs(counts: RolloutStateRow['counts']): (rollout: ClusterRollout) => boolean {
  return ({ state }) => ROLLOUT_STATES[state].counts === counts;
}

function isIn(...states: readonly ClusterRolloutState[]): (rollout: ClusterRollout) => boolean {
  return ({ state }) => states.includes(state);
}

export function failedClusters(rollouts: readonly ClusterRollout[]): readonly string[] {
  return rollouts.filter(countsAs('Failure')).map(({ member }) => member.name);
}

/**
 * Proven: every cluster that counts is. Failures within the budget do not count. At least one cluster must be proven, because
 * clusters that were not observed prove nothing.
 */
export function stageRollout(rollouts: readonly ClusterRollout[], stage: Stage): StageRollout {
  const failed = failedClusters(rollouts);
  const spent = failureBudgetLimit({ stage, total: rollouts.length, failed });
  if (spent) return { state: 'Failed', wait: spent };
  const proven = rollouts.filter(countsAs('Proven'));
  const required = rollouts.filter(countsAs('Required'));
  const tooMany = tooManySkipped(rollouts, stage);
  if (!tooMany && proven.length > 0 && required.length === 0) return { state: 'Proven' };
  const isSoaking = required.length > 0 && required.every(isIn('Soaking'));
  return { state: isSoaking ? 'Soaking' : 'Promoting', wait: tooMany ?? firstWait(rollouts) };
}

function tooManySkipped(
  rollouts: readonly ClusterRollout[],
  { name, unreachable }: Stage,
): Explanation | undefined {
  const skipped = rollouts.filter(isIn('Skipped')).map(({ member }) => member.name);
  const allowed = resolveIntOrPercent(unreachable.maxSkipped, rollouts.length);
  const [first] = skipped;
  if (first === undefined || skipped.length <= allowed) return undefined;
  const names = skipped.slice(0, MAX_NAMES).join(', ');
  const because = `clusters unreachable in ${name}: ${skipped.length}, allowed: ${allowed} (${names})`;
  return { reason: 'TooManySkipped', because, blocker: { kind: 'Cluster', name: first } };
}

function firstWait(rollouts: readonly ClusterRollout[]): Explanation {
  for (const state of EXPLANATION_ORDER) {
    const found = rollouts.filter(isIn(state));
    const [first] = found;
    if (first) return explain(first, found);
  }
  return { reason: 'NoClusters', because: 'no cluster of the stage counts' };
}

/** The soak of a stage ends with that of its last cluster. */
function explain(first: ClusterRollout, all: readonly ClusterRollout[]): Explanation {
  const { reason, because, until, member } = first;
  const last = all.reduce(
    (latest, next) => ((next.until ?? latest) > latest ? (next.until ?? latest) : latest),
    until ?? new Date(0),
  );
  return {
    reason,
    because: `${member.name}: ${because}`,
    blocker: first.blocker ?? { kind: 'Cluster', name: member.name },
    ...optional('until', until && first.state === 'Soaking' ? last : until),
  };
}

/**
 * A newer commit may replace this one: it fails here, or nothing is in progress that would ever prove it. A failure within the
 * budget does not prevent the proof, so it lets nothing in; otherwise one unhealthy cluster would starve its stage.
 */
export function isReplaceable(rollouts: readonly ClusterRollout[], stage: Stage): boolean {
  const failed = failedClusters(rollouts);
  if (failureBudgetLimit({ stage, total: rollouts.length, failed })) return true;
  const isFailing = rollouts.some(
    ({ state, hasContent, member }) =>
      hasContent &&
      state !== 'Paused' &&
      state !== 'Removed' &&
      ROLLOUT_STATES[state].counts !== 'Failure' &&
      member.progress.failing,
  );
  return isFailing || !rollouts.some(({ state }) => ROLLOUT_STATES[state].isInProgress);
}

/** S33: the commit returns every started cluster to proven content, and replaces content that is not proven yet. */
export function isRevert(
  rollouts: readonly ClusterRollout[],
  commit: string,
  context: MemberContext,
): boolean {
  const started = rollouts.filter(({ member }) => member.progress.state !== 'NotStarted');
  return (
    started.some(({ member, hasContent }) => !hasContent && isUnproven(member)) &&
    started.every((rollout) => skipsSoak(rollout, commit, context))
  );
}

export function stageSoakEnd(rollouts: readonly ClusterRollout[]): Date | undefined {
  const ends = rollouts.flatMap(({ state, until }) => (state === 'Soaking' && until ? until : []));
  return ends.toSorted((a, b) => +b - +a)[0];
}

/** Counts the clusters that git declares: nothing is written to a removed one, so it never reaches the commit. */
export function countClusters(rollouts: readonly ClusterRollout[], commit: string): ReleaseStageClusters {
  const declared = rollouts.filter(({ state }) => ROLLOUT_STATES[state].countedIn !== undefined);
  const count = (field: keyof ReleaseStageClusters): number =>
    declared.filter(({ state }) => ROLLOUT_STATES[state].countedIn === field).length;
  return {
    total: declared.length,
    pending: count('pending'),
    applying: count('applying'),
    soaking: count('soaking'),
    proven: count('proven'),
    unchanged: rollouts.filter((rollout) => isUnchanged(rollout, commit)).length,
    failed: count('failed'),
    unreachable: count('unreachable'),
    skipped: count('skipped'),
  };
}

/** Tells whether the cluster was proven with another commit that rendered to the same content. */
function isUnchanged({ state, member, digest }: ClusterRollout, commit: string): boolean {
  if (state !== 'Proven') return false;
  const proof = member.progress.sync.proven?.find((entry) => entry.digest === digest);
  return proof !== undefined && proof.commit !== commit;
}

/** Returns when time alone changes something next. Moments in the past are excluded: they would requeue for ever. */
export function nextRequeue(rollouts: readonly ClusterRollout[], now: Date): Date | undefined {
  const moments = rollouts.flatMap(({ until, member }) => [until, member.progress.requeueAt]);
  return firstMoment(moments.filter((moment) => moment !== undefined && moment > now));
}
