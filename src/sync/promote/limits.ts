/**
 * The limits of promotion. Entry limits keep a stage from taking a new commit at all; start limits are checked before
 * each cluster starts.
 */
import type { Pipeline, Stage } from '../../api/generated/types.ts';
import { pausedReason } from '../../api/status/pauses.ts';
import { resolveIntOrPercent } from '../../rollout/int-or-percent.ts';
import { type Limit, tightestLimit, UNLIMITED } from '../../rollout/limit.ts';
import { freezeLimit, windowLimit } from '../../rollout/maintenance-windows.ts';
import { MAX_NAMES } from './bounds.ts';
import type { PromotionHold } from './snapshot.ts';

export interface EntryRequest {
  readonly pipeline: Pipeline;
  readonly stage: Stage;
  /** The digest of the plan of the content that the commit renders to now. */
  readonly planDigest: string;
  /** Why the approval of the plan does not count as that of another person. */
  readonly approverProblem?: string;
  /** Clusters that belong to no stage. */
  readonly unassigned: readonly string[];
  /** How many clusters of this stage the commit changes. */
  readonly changes: number;
  /** How many of these changes no earlier stage exercised. */
  readonly unexercised: number;
  /** Whether each of these changes returns its cluster to proven content. */
  readonly isRevert: boolean;
  /** The hold of the commit by a FleetPolicy. */
  readonly hold?: PromotionHold;
  readonly now: Date;
}

export function entryLimit(request: EntryRequest): Limit {
  return tightestLimit([
    ...pausedLimit(request),
    ...unassignedLimit(request),
    ...approvalLimit(request),
    ...(request.changes > 0 ? closedLimits(request) : []),
    ...(request.changes > 0 && !request.isRevert ? heldLimit(request) : []),
    UNLIMITED,
  ]);
}

export type StartKind = 'New' | 'Revert' | 'Continued';

export interface StartRequest {
  readonly pipeline: Pipeline;
  readonly stage: Stage;
  readonly unassigned: readonly string[];
  readonly total: number;
  readonly busy: number;
  readonly failed: readonly string[];
  /** Which clusters may start: new ones; those that return to proven content; or those that continue. */
  readonly who: StartKind;
  readonly now: Date;
  /** The commit, if it renders to content now that the stage before has not proven. */
  readonly rerendered?: string;
  /** The hold of the commit by a FleetPolicy. */
  readonly hold?: PromotionHold;
}

export function startLimit(request: StartRequest): Limit {
  const budget = failureBudgetLimit(request);
  return tightestLimit([
    ...pausedLimit(request),
    ...unassignedLimit(request),
    ...rerenderedLimit(request),
    ...(budget ? [budget] : []),
    ...(request.who === 'Continued' ? [] : closedLimits({ ...request, isRevert: request.who === 'Revert' })),
    ...(request.who === 'New' ? heldLimit(request) : []),
    concurrencyLimit(request),
  ]);
}

function pausedLimit({ pipeline }: Pick<StartRequest, 'pipeline'>): Limit[] {
  const because = pausedReason(pipeline);
  if (because === undefined) return [];
  return [
    { slots: 0, reason: 'Paused', because, blocker: { kind: 'Pipeline', name: pipeline.metadata.name } },
  ];
}

function unassignedLimit({ pipeline, unassigned }: Pick<StartRequest, 'pipeline' | 'unassigned'>): Limit[] {
  const [first] = unassigned;
  if (pipeline.spec.unassigned !== 'Fail' || first === undefined) return [];
  const names = unassigned.slice(0, MAX_NAMES).join(', ');
  const because = `${unassigned.length} clusters belong to no stage: ${names}`;
  return [{ slots: 0, reason: 'ClusterUnassigned', because, blocker: { kind: 'Cluster', name: first } }];
}

/** Tells whether a window or a freeze stops the next cluster of the stage. */
export function isClosed(request: Pick<EntryRequest, 'pipeline' | 'stage' | 'now'>): boolean {
  return closedLimits({ ...request, isRevert: false }).length > 0;
}

/** S36: a closed window and a freeze stop the next cluster; a revert passes what the stage permits. */
function closedLimits({
  pipeline,
  stage,
  isRevert,
  now,
}: Pick<EntryRequest, 'pipeline' | 'stage' | 'isRevert' | 'now'>): Limit[] {
  const passes = isRevert ? stage.revertPasses : { windows: false, freezes: false };
  const limits = [
    passes.freezes ? undefined : freezeLimit(pipeline.spec.freezes, now),
    passes.windows ? undefined : windowLimit(stage.windows, now),
  ];
  const blocker = { kind: 'Pipeline', name: pipeline.metadata.name };
  return limits.filter((limit) => limit !== undefined).map((limit) => ({ ...limit, blocker }));
}

/** A commit that failed in several clusters is promoted to no further one. */
function heldLimit({ hold }: Pick<StartRequest, 'hold'>): Limit[] {
  if (!hold) return [];
  const { because, policy, until } = hold;
  return [{ slots: 0, reason: 'FleetCause', because, blocker: { kind: 'FleetPolicy', name: policy }, until }];
}

/** S32: proof belongs to content. A newer commit, or the proof in the stage before, ends this. */
function rerenderedLimit({ stage, rerendered }: StartRequest): Limit[] {
  if (rerendered === undefined) return [];
  const because = `${rerendered} renders to different content than when it was promoted to ${stage.name}: the stage before has to prove that content first`;
  return [{ slots: 0, reason: 'RenderChanged', because }];
}

/** A commit that changes nothing in the stage needs no approval. */
function approvalLimit(request: EntryRequest): Limit[] {
  const { pipeline, stage, changes, unexercised } = request;
  const needed = { None: 0, Unexercised: unexercised, Required: changes }[stage.approval];
  const missing = missingApproval(request);
  if (needed === 0 || missing === undefined) return [];
  const what = stage.approval === 'Unexercised' ? ' for changes that no earlier stage exercised' : '';
  const who = stage.approvalByOther ? ' by another person' : '';
  const because = `stage ${stage.name} needs an approval${who}${what}: ${missing}`;
  const blocker = { kind: 'Pipeline', name: pipeline.metadata.name };
  return [{ slots: 0, reason: 'ApprovalRequired', because, blocker }];
}

/** Returns what has to be done for an approval; undefined if the plan has one that counts. */
function missingApproval({ pipeline, stage, planDigest, approverProblem }: EntryRequest): string | undefined {
  const isApproved = pipeline.spec.approvals.some(
    (approval) => approval.stage === stage.name && approval.planDigest === planDigest,
  );
  if (!isApproved) return `add plan ${planDigest} to spec.approvals`;
  return stage.approvalByOther ? approverProblem : undefined;
}

/** S35: stops starts when too many clusters have failed. Undefined while the failures are within the budget. */
export function failureBudgetLimit({
  stage,
  total,
  failed,
}: Pick<StartRequest, 'stage' | 'total' | 'failed'>): Limit | undefined {
  const allowed = resolveIntOrPercent(stage.maxFailedClusters, total);
  const [first] = failed;
  if (first === undefined || failed.length <= allowed) return undefined;
  const names = failed.slice(0, MAX_NAMES).join(', ');
  const because = `clusters failed in ${stage.name}: ${failed.length}, allowed: ${allowed} (${names})`;
  return { slots: 0, reason: 'FailureBudgetSpent', because, blocker: { kind: 'Cluster', name: first } };
}

function concurrencyLimit({ stage, total, busy }: StartRequest): Limit {
  const allowed = resolveIntOrPercent(stage.maxConcurrentClusters, total);
  return {
    slots: allowed - busy,
    reason: 'StageFull',
    because: `clusters busy in ${stage.name}: ${busy}, allowed: ${allowed}`,
  };
}
