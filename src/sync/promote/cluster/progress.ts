/**
 * How far one cluster is with the content that was assigned to it: its recorded status, updated by what was observed. Pure.
 * stage.ts decides which commit is assigned.
 */
import type { Check, ClusterSoak, ClusterSync } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type Explanation, earliest } from '../../../rollout/explanation.ts';
import { type CheckRun, countRuns, type GateResult, gateResult, nextRuns } from '../../../rollout/gate.ts';
import { MAX_GAP_MS, notAfter, RECORD_EVERY_MS, soakEndsAt, stopSoak } from '../../../rollout/soak-clock.ts';
import type { ClusterReport, WorkReport } from '../../cluster-report.ts';
import type { TargetDigests } from '../../commits.ts';
import { MAX_MESSAGE } from '../bounds.ts';
import type { CommitHistory } from '../commit-history.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { failureOf, isProven, unitsToSoak, withFailure, withProof } from './proofs.ts';
import type { ProgressState } from './rollout-state.ts';
import { ALL_UNITS, recordHealthy, restartSoak } from './soak.ts';

export interface ClusterProgress extends Explanation {
  readonly state: ProgressState;
  /** The updated record. */
  readonly sync: ClusterSync;
  /** The assigned content has problems: a newer commit may replace it. */
  readonly failing: boolean;
  /** Checks that should run now. */
  readonly dueChecks: readonly string[];
  readonly requeueAt?: Date;
}

export interface SoakRules {
  readonly soakSeconds: number;
  readonly checks: readonly Check[];
}

/** The default progressDeadlineSeconds of a Deployment, for objects whose own controller has no deadline. */
const LATE_MS = 600_000;
/** Requeue delay when the soak has ended but the last observation of health is older than its end. */
const OBSERVE_AGAIN_MS = 2000;
const PROVEN: Explanation = { reason: 'Proven', because: 'proven on this cluster' };

/** From the record alone, while the cluster cannot be observed: nothing becomes proven or failed. */
export function recordedProgress(sync: ClusterSync): ClusterProgress {
  const { renderedDigest: digest, soak } = sync;
  if (digest === undefined) {
    return progressIn('NotStarted', sync, { reason: 'NothingYet', because: 'no commit assigned yet' });
  }
  if (failureOf(sync, digest)) return recordedFailure(sync, digest);
  if (!soak && isProven(sync, digest)) return progressIn('Proven', sync, PROVEN);
  const state = soak?.settledAt === undefined ? 'Applying' : 'Soaking';
  return progressIn(state, sync, { reason: 'NotSeen', because: 'not observed recently' });
}

interface ProgressContext {
  readonly history: CommitHistory;
  readonly now: Date;
}

export function observedProgress(
  snapshot: ClusterSnapshot,
  sync: ClusterSync,
  context: ProgressContext,
  rules: SoakRules,
): ClusterProgress {
  const { report } = snapshot;
  const digest = sync.renderedDigest;
  if (!report || digest === undefined) return recordedProgress(sync);
  const input = inputFor({ ...snapshot, report }, { sync, digest }, context, rules);
  return sync.soak || !isProven(sync, digest) ? beforeProof(input) : afterProof(input);
}

interface ProgressInput extends ProgressContext {
  readonly cluster: string;
  readonly sync: ClusterSync;
  readonly soak: ClusterSoak;
  readonly target: TargetDigests;
  /** False: the commit is not rendered any more, so its units are unknown. */
  readonly isRendered: boolean;
  readonly report: ClusterReport;
  readonly work: WorkReport | undefined;
  readonly health: (NonNullable<ClusterReport['health']> & Explanation) | undefined;
  readonly rules: SoakRules;
  readonly runs: readonly CheckRun[];
}

function inputFor(
  { cluster, report, checkRuns = [] }: ClusterSnapshot & { readonly report: ClusterReport },
  { sync, digest }: { readonly sync: ClusterSync; readonly digest: string },
  context: ProgressContext,
  rules: SoakRules,
): ProgressInput {
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
    work: report.work?.digest === digest ? report.work : undefined,
    health: knownHealth(report, digest, context.now),
    rules,
    runs: checkRuns,
  };
}

/** Undefined if it is unknown, of another digest, or too old. */
function knownHealth({ health }: ClusterReport, digest: string, now: Date): ProgressInput['health'] {
  if (health?.digest !== digest || Math.abs(+now - +health.observedAt) > MAX_GAP_MS) return undefined;
  if (health.answer === 'Unknown') return undefined;
  return { reason: 'Settled', ...health };
}

/** Only a definite failure revokes a proof: everything else is drift, and is corrected. */
function afterProof(input: ProgressInput): ClusterProgress {
  return input.health?.answer === 'Failed'
    ? fail(input, input.health)
    : progressIn('Proven', input.sync, PROVEN);
}

function beforeProof(input: ProgressInput): ClusterProgress {
  const counted = withCheckRuns(input);
  const failure = observedFailure(counted);
  if (failure) return fail(counted, failure);
  const obstacle = findObstacle(counted);
  return obstacle ? waitOn(counted, obstacle) : continueSoak(counted);
}

/** Runs from before the target settled do not count. */
function withCheckRuns(input: ProgressInput): ProgressInput {
  const { soak, rules, now } = input;
  if (soak.settledAt === undefined) return input;
  const settledAt = Date.parse(soak.settledAt);
  // A run in the future predates a clock that was set back.
  const runs = input.runs.filter(({ at }) => +at >= settledAt && at <= now);
  return { ...input, soak: { ...soak, gates: countRuns(soak.gates ?? [], runs, rules.checks) } };
}

function observedFailure({ work, health, soak, rules }: ProgressInput): Explanation | undefined {
  if (work?.state === 'Failed') return { reason: work.reason, because: work.message };
  if (health?.answer === 'Failed') return health;
  const gate = gateResult(soak.gates ?? [], rules.checks);
  return gate.state === 'Failed' ? { reason: 'CheckFailed', because: gate.because } : undefined;
}

/** The soak restarts once it is healthy again: the failure ends when all gates hold for a whole soak. */
function fail(
  { sync, soak, now, target }: ProgressInput,
  { reason, because, blocker }: Explanation,
): ClusterProgress {
  const failure = {
    digest: target.digest,
    commit: sync.commit ?? '',
    failedAt: now.toISOString(),
    reason,
    message: because.slice(0, MAX_MESSAGE),
  };
  const restarted = restartSoak({ startedAt: now.toISOString(), ...soak });
  return recordedFailure({ ...sync, ...withFailure(sync, failure), soak: restarted }, target.digest, blocker);
}

/** Shows the first failure until the digest is proven. */
function recordedFailure(
  sync: ClusterSync,
  digest: string,
  blocker?: Explanation['blocker'],
): ClusterProgress {
  const { reason = 'Failed', message = 'it failed on this cluster' } = failureOf(sync, digest) ?? {};
  return progressIn('Failed', sync, { reason, because: message, ...optional('blocker', blocker) });
}

function progressIn(state: ProgressState, sync: ClusterSync, explanation: Explanation): ClusterProgress {
  return { state, sync, failing: state === 'Failed' || state === 'Held', dueChecks: [], ...explanation };
}

interface Obstacle extends Explanation {
  readonly state?: 'Held';
  readonly failing?: boolean;
  readonly lateAt?: Date;
}

/** The first condition of a running soak that is not met. */
function findObstacle(input: ProgressInput): Obstacle | undefined {
  const { work, health } = input;
  if (!work) return { reason: 'Applying', because: 'not compared with this commit yet' };
  const { reason, message: because } = work;
  if (work.state === 'Held') return { state: 'Held', failing: true, reason, because };
  if (work.state !== 'Applied') return { failing: work.objects.failed > 0, reason, because };
  const { synced } = input.report;
  if (synced.status !== 'True') return { reason: synced.reason, because: synced.message };
  if (!health) return { reason: 'HealthUnknown', because: 'health not observed recently' };
  if (health.answer === 'Settled') return undefined;
  return {
    reason: health.reason,
    because: health.because,
    ...optional('blocker', health.blocker),
    ...lateness(input),
  };
}

/** A controller without a deadline never reports a failure, so promotion times it to let a fix in. */
function lateness({ soak, now, health }: ProgressInput): Partial<Obstacle> {
  if (health?.answer !== 'Progressing' || health.hasDeadline) return {};
  if (soak.startedAt === undefined || soak.settledAt !== undefined) return {};
  const lateAt = new Date(Date.parse(notAfter(soak.startedAt, now)) + LATE_MS);
  return now >= lateAt ? { failing: true } : { lateAt };
}

function waitOn(input: ProgressInput, obstacle: Obstacle): ClusterProgress {
  const { sync, target, now } = input;
  const { lateAt, failing = false, state, ...explanation } = obstacle;
  const soak = isObservedUnsettled(input) ? stopSoak(input.soak, now) : input.soak;
  const startedAt = soak.startedAt && notAfter(soak.startedAt, now);
  const next = { ...sync, soak: { ...soak, ...optional('startedAt', startedAt) } };
  if (failureOf(sync, target.digest)) return recordedFailure(next, target.digest, explanation.blocker);
  const waiting = soak.settledAt === undefined ? 'Applying' : 'Soaking';
  return { ...progressIn(state ?? waiting, next, explanation), failing, ...optional('requeueAt', lateAt) };
}

/**
 * It had settled, and was observed not to be in sync and healthy any more. Before it settles, clocks that units brought along
 * keep running; and a time without observations counts up to MAX_GAP_MS.
 */
function isObservedUnsettled({ soak, work, health, report }: ProgressInput): boolean {
  if (soak.settledAt === undefined) return false;
  return health?.answer === 'Progressing' || (work !== undefined && report.synced.status === 'False');
}

/** It was applied, in sync and healthy when last observed. */
function continueSoak(input: ProgressInput): ClusterProgress {
  const { rules, target, now } = input;
  const at = input.health?.observedAt ?? now;
  const gate = gateResult(input.soak.gates ?? [], rules.checks);
  const before = gate.state === 'Inconclusive' ? restartSoak(input.soak) : input.soak;
  const soak = recordHealthy(before, target, soakingUnits(input), at);
  const until = soakEndsAt(soak, rules.soakSeconds) ?? at;
  if (at >= until && gate.state === 'Open') return prove(input, at);
  return keepSoaking(input, { soak, until, because: soakingReason(gate, at, until) });
}

function soakingReason(gate: GateResult, at: Date, until: Date): string {
  if (gate.state === 'Inconclusive') return `the soak restarted: ${gate.because}`;
  return at >= until ? 'not all checks have passed yet' : `soaks until ${until.toISOString()}`;
}

interface RunningSoak {
  readonly soak: ClusterSoak;
  readonly until: Date;
  readonly because: string;
}

function keepSoaking(
  { sync, target, rules, now }: ProgressInput,
  { soak, until, because }: RunningSoak,
): ClusterProgress {
  const checks = nextRuns(soak.gates ?? [], rules.checks, now);
  const later = checks.filter(({ at }) => at > now).map(({ at }) => at);
  const end = until > now ? until : new Date(+now + OBSERVE_AGAIN_MS);
  const next = { ...sync, soak: limitWrites(sync.soak, soak) };
  const progress = failureOf(sync, target.digest)
    ? recordedFailure(next, target.digest)
    : progressIn('Soaking', next, { reason: 'Soaking', because });
  return {
    ...progress,
    until,
    dueChecks: checks.filter(({ at }) => at <= now).map(({ check }) => check),
    ...optional('requeueAt', earliest([end, nextRecord(now), ...later])),
  };
}

/** A soak is observed as often as it is recorded; otherwise the time between would count as unobserved. */
function nextRecord(now: Date): Date {
  return new Date(+now + RECORD_EVERY_MS);
}

/** Failed content soaks as a whole. If the commit is not rendered any more, the units that were soaking go on soaking. */
function soakingUnits({
  sync,
  soak,
  target,
  isRendered,
  history,
  cluster,
}: ProgressInput): readonly string[] {
  if (failureOf(sync, target.digest)) return [ALL_UNITS];
  if (isRendered) return unitsToSoak(sync, target, { history, cluster });
  if (isProven(sync, target.digest)) return [];
  const units = (soak.clocks ?? []).map(({ unit }) => unit);
  return units.length > 0 ? units : [ALL_UNITS];
}

function prove({ sync, target, now }: ProgressInput, at: Date): ClusterProgress {
  const { soak: _ended, ...rest } = sync;
  const proof = { digest: target.digest, commit: sync.commit ?? '', provenAt: now.toISOString() };
  const because = `healthy and in sync at ${at.toISOString()}`;
  return progressIn('Proven', { ...rest, ...withProof(sync, proof) }, { reason: 'Proven', because });
}

/** A newer `observedAt` alone is recorded only every RECORD_EVERY_MS. */
function limitWrites(before: ClusterSoak | undefined, after: ClusterSoak): ClusterSoak {
  if (before?.observedAt === undefined || after.observedAt === undefined) return after;
  const age = Date.parse(after.observedAt) - Date.parse(before.observedAt);
  return age < 0 || age >= RECORD_EVERY_MS ? after : { ...after, observedAt: before.observedAt };
}
