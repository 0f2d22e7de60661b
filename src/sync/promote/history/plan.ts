/** Adds to the planned record of each cluster which commits ran on it. Pure. */
import type { ClusterSync, CommitRun, HeldDeletes, Pipeline } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ClusterPlan } from '../cluster/plan.ts';
import type { ProgressState } from '../cluster/rollout-state.ts';
import type { CommitHistory } from '../commit-history.ts';
import type { OrderedRelease } from '../release/order.ts';
import { currentPlanDigest } from '../release/release.ts';
import { decisionsAbout } from './decisions.ts';
import { nextHistory, type ObservedRun } from './runs.ts';

export interface HistoryContext {
  readonly pipeline: Pipeline;
  readonly releases: readonly OrderedRelease[];
  readonly commits: CommitHistory;
  readonly now: Date;
}

export function withHistory(plans: readonly ClusterPlan[], context: HistoryContext): readonly ClusterPlan[] {
  const runs = { ...context, planDigestOf: planDigests(context) };
  return plans.map((plan) => withOwnHistory(plan, runs));
}

interface RunContext extends HistoryContext {
  /** Returns the digest of the plan of the Release of a commit. */
  readonly planDigestOf: (commit: string) => string | undefined;
}

/**
 * Calculates plan digests. A digest covers all clusters of a commit, so it is calculated once for all of them, and only where
 * approvals name digests.
 */
function planDigests({ pipeline, releases, commits }: HistoryContext): RunContext['planDigestOf'] {
  const digests = new Map<string, string | undefined>();
  return (commit) => {
    if (pipeline.spec.approvals.length === 0) return undefined;
    if (!digests.has(commit)) {
      const found = releases.find((each) => each.commit === commit);
      digests.set(commit, found && currentPlanDigest(found.release, commits));
    }
    return digests.get(commit);
  };
}

function withOwnHistory(plan: ClusterPlan, context: RunContext): ClusterPlan {
  const { recorded } = plan.member;
  const runs = [...runUntilNow(plan, context), ...runFromNow(plan, context)];
  const history = nextHistory(recorded.history ?? [], runs, context.now);
  return history.length === 0 ? plan : { ...plan, sync: { ...plan.sync, history } };
}

const RUN_STATES: Readonly<Record<ProgressState, CommitRun['state']>> = {
  NotStarted: 'Unknown',
  Applying: 'Applying',
  Soaking: 'Soaking',
  Proven: 'Proven',
  Failed: 'Failed',
  Held: 'Held',
  UnitPaused: 'Paused',
};

/** Only these explain an end; what an object waits for meanwhile is in the status of the Cluster. */
const EXPLAINED: ReadonlySet<ProgressState> = new Set(['Failed', 'Held', 'UnitPaused'] as const);

/** Describes what was assigned until this reconcile, and how far it came. */
function runUntilNow({ member }: ClusterPlan, context: RunContext): readonly ObservedRun[] {
  const { progress, recorded } = member;
  const { state, sync, reason, because } = progress;
  const run = describeRun(sync, { stage: sync.stage, held: recorded.held ?? [] }, context);
  if (!run) return [];
  const isRecorded = recorded.commit === run.commit;
  const startedAt = recorded.history === undefined && isRecorded ? assignedAt(recorded) : undefined;
  return [
    {
      ...run,
      state: RUN_STATES[state],
      ...(EXPLAINED.has(state) ? { reason, message: because } : {}),
      ...optional('startedAt', startedAt),
      ...optional('adopted', isRecorded ? undefined : true),
    },
  ];
}

/** Returns the time of the assignment in a record that was written before there was a history. */
function assignedAt({ soak, since }: ClusterSync): string | undefined {
  return soak?.startedAt ?? since;
}

/** Describes what this reconcile assigns, if that is another commit, or other content of the same commit. */
function runFromNow({ member, sync, stage }: ClusterPlan, context: RunContext): readonly ObservedRun[] {
  const before = member.progress;
  const hasContent = before.sync.renderedDigest === sync.renderedDigest;
  const run = describeRun(sync, { stage, held: member.recorded.held ?? [] }, context);
  if (!run || (hasContent && before.sync.commit === sync.commit)) return [];
  return [{ ...run, state: hasContent ? RUN_STATES[before.state] : 'Applying' }];
}

interface RunDetails {
  readonly stage: string | undefined;
  /** The deletes that were held before this reconcile. */
  readonly held: readonly HeldDeletes[];
}

function describeRun(
  { commit, renderedDigest: digest }: ClusterSync,
  { stage, held }: RunDetails,
  { pipeline, releases, commits, planDigestOf }: RunContext,
): Omit<ObservedRun, 'state'> | undefined {
  if (commit === undefined) return undefined;
  const release = releases.find((each) => each.commit === commit)?.release;
  const { author, subject } = commits.commit(commit) ?? release?.spec ?? {};
  const decided = {
    commit,
    ...optional('digest', digest),
    ...optional('stage', stage),
    ...optional('planDigest', planDigestOf(commit)),
    held,
  };
  return {
    commit,
    pipeline: pipeline.metadata.name,
    ...optional('digest', digest),
    ...optional('stage', stage),
    ...optional('author', author),
    ...optional('subject', subject),
    decisions: decisionsAbout(pipeline.spec, decided),
  };
}
