/** Describes what is observed of a cluster's assigned content, and finds the first condition of its soak that is not met. Pure. */

import type { Check, ClusterSoak, ClusterSync } from '../../../api/generated/types.ts';
import { isPausedReason, UNIT_NOT_READY } from '../../../api/status/sync-words.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type CheckRun, countRuns, gateResult } from '../../../rollout/checks/gate.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { MAX_GAP_MS, notAfter } from '../../../rollout/soak-clock.ts';
import { type ClusterReport, type WorkReport } from '../../cluster-report.ts';
import type { TargetDigests } from '../../commits.ts';
import { UNREADABLE } from '../../health/health.ts';
import type { CommitHistory } from '../commit-history.ts';
import type { ClusterSnapshot } from '../snapshot.ts';

export interface SoakRules {
  readonly soakSeconds: number;
  readonly checks: readonly Check[];
}

/** The default progressDeadlineSeconds of a Deployment, for objects whose own controller has no deadline. */
const LATE_MS = 600_000;

export interface ObservationContext {
  readonly history: CommitHistory;
  readonly now: Date;
}

export interface ContentObservation extends ObservationContext {
  readonly cluster: string;
  readonly sync: ClusterSync;
  readonly soak: ClusterSoak;
  readonly target: TargetDigests;
  /** False if the commit is not rendered any more, so that its units are unknown. */
  readonly isRendered: boolean;
  readonly report: ClusterReport;
  readonly work: WorkReport | undefined;
  readonly health: (NonNullable<ClusterReport['health']> & Explanation) | undefined;
  readonly rules: SoakRules;
  readonly runs: readonly CheckRun[];
}

export function observeContent(
  { cluster, report, checkRuns = [] }: ClusterSnapshot & { readonly report: ClusterReport },
  { sync, digest }: { readonly sync: ClusterSync; readonly digest: string },
  context: ObservationContext,
  rules: SoakRules,
): ContentObservation {
  const { name } = cluster.metadata;
  const rendered = context.history.target(sync.commit, name);
  const isRendered = rendered?.digest === digest;
  return {
    ...context,
    cluster: name,
    sync,
    soak: sync.soak ?? {},
    target: isRendered ? rendered : { digest, units: new Map<string, string>() },
    isRendered,
    report,
    ...observedOf(report, { digest, startedAt: sync.soak?.startedAt, now: context.now }),
    rules,
    runs: checkRuns,
  };
}

interface Assigned {
  readonly digest: string;
  readonly startedAt: string | undefined;
  readonly now: Date;
}

function observedOf(report: ClusterReport, assigned: Assigned): Pick<ContentObservation, 'work' | 'health'> {
  if (isFromBefore(report, assigned)) return { work: undefined, health: undefined };
  const { digest, now } = assigned;
  const work = report.work?.digest === digest ? report.work : undefined;
  return { work, health: currentHealth(report, digest, now) };
}

/**
 * Tells whether the report is from before the content was assigned. After a revert the digest is the same as before, and another
 * commit may have been applied in between, also by another process while this one did not run. A start in the future predates a
 * clock that was set back.
 */
function isFromBefore({ health }: ClusterReport, { startedAt, now }: Assigned): boolean {
  if (health === undefined || startedAt === undefined) return false;
  const startedMs = Date.parse(startedAt);
  return startedMs <= +now && +health.observedAt < startedMs;
}

/** Returns the health of the content. Undefined if it is of another digest, or too old. */
function currentHealth({ health }: ClusterReport, digest: string, now: Date): ContentObservation['health'] {
  if (health?.digest !== digest || Math.abs(+now - +health.observedAt) > MAX_GAP_MS) return undefined;
  return { reason: 'Settled', ...health };
}

/** Counts the check runs of the soak. Runs from before the target settled do not count. */
export function withCheckRuns(input: ContentObservation): ContentObservation {
  const { soak, rules, now } = input;
  if (soak.settledAt === undefined) return input;
  const settledAt = Date.parse(soak.settledAt);
  // A run in the future predates a clock that was set back.
  const runs = input.runs.filter(({ at }) => +at >= settledAt && at <= now);
  return { ...input, soak: { ...soak, gates: countRuns(soak.gates ?? [], runs, rules.checks) } };
}

export function observedFailure({ work, health, soak, rules }: ContentObservation): Explanation | undefined {
  if (work?.state === 'Failed') return { reason: work.reason, because: work.message };
  if (health?.answer === 'Failed') return health;
  const gate = gateResult(soak.gates ?? [], rules.checks);
  return gate.state === 'Failed' ? { reason: 'CheckFailed', because: gate.because } : undefined;
}

export interface Obstacle extends Explanation {
  readonly state?: 'Held' | 'UnitPaused';
  readonly failing?: boolean;
  readonly lateAt?: Date;
}

/** Returns the first condition of a running soak that is not met. */
export function findObstacle(input: ContentObservation): Obstacle | undefined {
  return refusedCalls(input.report) ?? contentObstacle(input);
}

/** Returns an obstacle while the server asks for time: sync waits, and content is not the cause. */
function refusedCalls({ failure }: ClusterReport): Obstacle | undefined {
  const until = failure?.retryAt;
  return until && { reason: failure.reason, because: failure.message, until };
}

function contentObstacle(input: ContentObservation): Obstacle | undefined {
  const { work, health } = input;
  if (!work) return notCompared(input);
  if (work.state !== 'Applied') return unfinished(work, input);
  const { synced } = input.report;
  if (synced.status !== 'True') return { reason: synced.reason, because: synced.message };
  if (!health) return { reason: 'HealthUnknown', because: 'health not observed recently' };
  if (health.answer === 'Settled') return undefined;
  if (health.answer === 'Unknown') return unknownHealth(health);
  return {
    reason: health.reason,
    because: health.because,
    ...optional('blocker', health.blocker),
    ...lateness(input),
  };
}

function unfinished(work: WorkReport, input: ContentObservation): Obstacle {
  const { reason, message: because, blocker } = work;
  if (work.state === 'Held') return { state: 'Held', failing: true, reason, because };
  if (isPausedReason(reason)) return { state: 'UnitPaused', failing: true, reason, because };
  // Nothing failed: it is timed like an object that is not healthy yet.
  if (reason === UNIT_NOT_READY) {
    const failing = input.health?.answer === 'Unknown' && input.health.reason === UNREADABLE;
    return { failing, reason, because, ...optional('blocker', blocker), ...lateness(input) };
  }
  return { failing: cannotFinish(work), reason, because };
}

function notCompared({ report: { failure } }: ContentObservation): Obstacle {
  return { reason: 'Applying', because: failure?.message ?? 'not compared with this commit yet' };
}

/**
 * Returns the obstacle of unknown health. An object that this process may not read must not keep a newer commit waiting, like one
 * that cannot be applied. Another process, which has watched it since before, may apply the commit all the same.
 */
function unknownHealth({ reason, because, blocker }: Explanation): Obstacle {
  return {
    failing: reason === UNREADABLE,
    reason: 'HealthUnknown',
    because,
    ...optional('blocker', blocker),
  };
}

/** Tells whether an object cannot be applied or deleted now, by a finalizer for example: it must not keep a newer commit waiting. */
function cannotFinish({ reason, objects, failures }: WorkReport): boolean {
  return objects.failed > 0 || (reason !== 'NotWritten' && failures.length > 0);
}

/**
 * Tells when an object counts as late. A controller without a deadline never reports a failure, so promotion times it to let a
 * fix in.
 */
function lateness({ soak, now, health }: ContentObservation): Partial<Obstacle> {
  if (health?.answer !== 'Progressing' || health.hasDeadline) return {};
  if (soak.startedAt === undefined || soak.settledAt !== undefined) return {};
  const lateAt = new Date(Date.parse(notAfter(soak.startedAt, now)) + LATE_MS);
  return now >= lateAt ? { failing: true } : { lateAt };
}

/**
 * Tells whether content that had settled was observed not to be in sync and healthy any more. Before it settles, clocks that
 * units brought along keep running; and a time without observations counts up to MAX_GAP_MS.
 */
export function isObservedUnsettled({ soak, work, health, report }: ContentObservation): boolean {
  if (soak.settledAt === undefined) return false;
  return health?.answer === 'Progressing' || (work !== undefined && report.synced.status === 'False');
}
