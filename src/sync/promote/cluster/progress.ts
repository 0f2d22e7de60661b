/**
 * How far one cluster has come with what it was given. Pure: what is written down in its status, brought up to what
 * was observed. Which commit it is given is decided elsewhere (stage.ts).
 */
import type { Check, ClusterSoak, ClusterSync } from '../../../api/generated/types.ts';
import { type CheckRun, countRuns, type GateVerdict, judgeGates, nextRuns } from '../../../rollout/gates.ts';
import type { ClusterReport, WorkReport } from '../../cluster-report.ts';
import type { TargetDigests } from '../../commits.ts';
import type { History } from '../commit-history.ts';
import { type Because, type ClusterView, earliest, optional } from '../snapshot.ts';
import { failureOf, isProven, unitsToSoak, withFailure, withProof } from './proofs.ts';
import {
  ALL_UNITS,
  BLIND_MS,
  notAfter,
  seenHealthy,
  soakAnew,
  soakedAt,
  stopped,
  WRITTEN_EVERY_MS,
} from './soak.ts';

export type Trial = 'None' | 'Applying' | 'Soaking' | 'Proven' | 'Failed' | 'Held';

export interface Progress extends Because {
  readonly trial: Trial;
  /** The record, brought up to date. */
  readonly sync: ClusterSync;
  /** What it was given does not go well: a newer commit may take its place. */
  readonly failing: boolean;
  readonly since?: Date;
  /** Checks that should run now. */
  readonly due: readonly string[];
  readonly wakeAt?: Date;
}

export interface SoakRules {
  readonly soakSeconds: number;
  readonly checks: readonly Check[];
}

/** What Kubernetes gives a Deployment: an object whose own controller knows no deadline is late after as long. */
const LATE_MS = 600_000;
/** How soon to look again when the soak has ended and only the last look at its health is older than that. */
const LOOK_AGAIN_MS = 2000;
const PROVEN: Because = { reason: 'Proven', because: 'proven here' };

/** From memory alone, while nothing can be seen: nothing is proven, and nothing fails. */
export function remembered(sync: ClusterSync): Progress {
  const { renderedDigest: digest, soak } = sync;
  if (digest === undefined) {
    return saying('None', sync, { reason: 'NothingYet', because: 'it was given nothing yet' });
  }
  if (failureOf(sync, digest)) return stillFailed(sync, digest);
  if (!soak && isProven(sync, digest)) return saying('Proven', sync, PROVEN);
  const trial = soak?.settledAt === undefined ? 'Applying' : 'Soaking';
  return saying(trial, sync, { reason: 'NotSeen', because: 'nothing is known of it now' });
}

interface Context {
  readonly history: History;
  readonly now: Date;
}

export function observed(view: ClusterView, sync: ClusterSync, context: Context, rules: SoakRules): Progress {
  const { report } = view;
  const digest = sync.renderedDigest;
  if (!report || digest === undefined) return remembered(sync);
  const look = lookAt({ ...view, report }, { sync, digest }, context, rules);
  return sync.soak || !isProven(sync, digest) ? onTrial(look) : afterProof(look);
}

interface Look extends Context {
  readonly cluster: string;
  readonly sync: ClusterSync;
  readonly soak: ClusterSoak;
  readonly target: TargetDigests;
  /** False where the commit is not rendered any more: its units are not known. */
  readonly known: boolean;
  readonly report: ClusterReport;
  readonly work: WorkReport | undefined;
  readonly health: (NonNullable<ClusterReport['health']> & Because) | undefined;
  readonly rules: SoakRules;
  readonly runs: readonly CheckRun[];
}

function lookAt(
  { cluster, report, runs = [] }: ClusterView & { readonly report: ClusterReport },
  { sync, digest }: { readonly sync: ClusterSync; readonly digest: string },
  context: Context,
  rules: SoakRules,
): Look {
  const { name } = cluster.metadata;
  const rendered = context.history.target(sync.commit, name);
  const known = rendered?.digest === digest;
  const target = known ? rendered : { digest, units: new Map<string, string>() };
  const work = report.work?.digest === digest ? report.work : undefined;
  const health = freshHealth(report, digest, context.now);
  return {
    ...context,
    cluster: name,
    sync,
    soak: sync.soak ?? {},
    target,
    known,
    report,
    work,
    health,
    rules,
    runs,
  };
}

/** Unknown, and too long ago, are the same: nobody saw it. */
function freshHealth({ health }: ClusterReport, digest: string, now: Date): Look['health'] {
  if (health?.digest !== digest || Math.abs(+now - +health.observedAt) > BLIND_MS) return undefined;
  if (health.answer === 'Unknown') return undefined;
  return { reason: 'Settled', ...health };
}

/** Proven, and still what it runs. Only a definite failure takes that back: everything else is drift, and is corrected. */
function afterProof(look: Look): Progress {
  return look.health?.answer === 'Failed' ? fail(look, look.health) : saying('Proven', look.sync, PROVEN);
}

function onTrial(look: Look): Progress {
  const counted = withRuns(look);
  const failure = failureNow(counted);
  if (failure) return fail(counted, failure);
  const obstacle = obstacleOf(counted);
  return obstacle ? wait(counted, obstacle) : goOn(counted);
}

/** Before it has settled a check says nothing about what was given. */
function withRuns(look: Look): Look {
  const { soak, rules, now } = look;
  if (soak.settledAt === undefined) return look;
  const settledAt = Date.parse(soak.settledAt);
  // A run in the future is from before the clock was set back.
  const runs = look.runs.filter(({ at }) => +at >= settledAt && at <= now);
  return { ...look, soak: { ...soak, gates: countRuns(soak.gates ?? [], runs, rules.checks) } };
}

function failureNow({ work, health, soak, rules }: Look): Because | undefined {
  if (work?.state === 'Failed') return { reason: work.reason, because: work.message };
  if (health?.answer === 'Failed') return health;
  const gate = judgeGates(soak.gates ?? [], rules.checks);
  return gate.gate === 'Failed' ? { reason: 'CheckFailed', because: gate.because } : undefined;
}

/** Its clocks start again from nothing once it is healthy: the failure ends when the gates hold for a whole soak. */
function fail({ sync, soak, now, target }: Look, { reason, because, blocker }: Because): Progress {
  const failure = {
    digest: target.digest,
    commit: sync.commit ?? '',
    failedAt: now.toISOString(),
    reason,
    message: because.slice(0, 256),
  };
  const anew = soakAnew({ startedAt: now.toISOString(), ...soak });
  return stillFailed({ ...sync, ...withFailure(sync, failure), soak: anew }, target.digest, blocker);
}

/** The first failure is what people should read, until the digest is proven. */
function stillFailed(sync: ClusterSync, digest: string, blocker?: Because['blocker']): Progress {
  const { reason = 'Failed', message = 'it failed here' } = failureOf(sync, digest) ?? {};
  return saying('Failed', sync, { reason, because: message, ...optional('blocker', blocker) });
}

function saying(trial: Trial, sync: ClusterSync, because: Because): Progress {
  return { trial, sync, failing: trial === 'Failed' || trial === 'Held', due: [], ...because };
}

interface Obstacle extends Because {
  readonly trial?: 'Held';
  readonly failing?: boolean;
  readonly lateAt?: Date;
  readonly since?: Date;
}

/** The first thing that must hold before the soak goes on. */
function obstacleOf(look: Look): Obstacle | undefined {
  const { work, health } = look;
  if (!work) return { reason: 'Applying', because: 'it has not been looked at for this commit yet' };
  const { reason, message: because } = work;
  if (work.state === 'Held') return { trial: 'Held', failing: true, reason, because };
  if (work.state !== 'Applied') return { failing: work.objects.failed > 0, reason, because };
  const { synced } = look.report;
  if (synced.status !== 'True') return { reason: synced.reason, because: synced.message };
  if (!health) return { reason: 'HealthUnknown', because: 'its health was not seen lately' };
  return health.answer === 'Settled' ? undefined : { ...pick(health), ...lateness(look) };
}

function pick({ reason, because, blocker, ...rest }: NonNullable<Look['health']>): Obstacle {
  const since = rest.answer === 'Settled' ? undefined : rest.since;
  return { reason, because, ...optional('blocker', blocker), ...optional('since', since) };
}

/** A controller that knows no deadline never gives up; somebody has to let the fix in. */
function lateness({ soak, now, health }: Look): Partial<Obstacle> {
  if (health?.answer !== 'Progressing' || health.hasDeadline) return {};
  if (soak.startedAt === undefined || soak.settledAt !== undefined) return {};
  const lateAt = new Date(Date.parse(notAfter(soak.startedAt, now)) + LATE_MS);
  return now >= lateAt ? { failing: true } : { lateAt };
}

function wait(look: Look, obstacle: Obstacle): Progress {
  const { sync, target, now } = look;
  const { lateAt, failing = false, trial, ...because } = obstacle;
  const soak = isSeenUnsettled(look) ? stopped(look.soak, now) : look.soak;
  const startedAt = soak.startedAt && notAfter(soak.startedAt, now);
  const next = { ...sync, soak: { ...soak, ...optional('startedAt', startedAt) } };
  if (failureOf(sync, target.digest)) return stillFailed(next, target.digest, because.blocker);
  const moving = soak.settledAt === undefined ? 'Applying' : 'Soaking';
  return { ...saying(trial ?? moving, next, because), failing, ...optional('wakeAt', lateAt) };
}

/**
 * It had settled, was looked at, and is not as it should be any more. Before it settles the clocks of units that soaked
 * already go on, and where nobody could look the two minutes count.
 */
function isSeenUnsettled({ soak, work, health, report }: Look): boolean {
  if (soak.settledAt === undefined) return false;
  return health?.answer === 'Progressing' || (work !== undefined && report.synced.status === 'False');
}

/** Seen applied, in sync and healthy at the moment of the last look. */
function goOn(look: Look): Progress {
  const { rules, target, now } = look;
  const at = look.health?.observedAt ?? now;
  const gate = judgeGates(look.soak.gates ?? [], rules.checks);
  const before = gate.gate === 'Unanswered' ? soakAnew(look.soak) : look.soak;
  const soak = seenHealthy(before, target, toSoak(look), at);
  const until = soakedAt(soak, rules.soakSeconds) ?? at;
  if (at >= until && gate.gate === 'Open') return prove(look, at);
  return soaking(look, { soak, until, because: whyNotYet(gate, at, until) });
}

function whyNotYet(gate: GateVerdict, at: Date, until: Date): string {
  if (gate.gate === 'Unanswered') return `the soak began anew, ${gate.because}`;
  return at >= until ? 'the checks have not all passed yet' : `soaks until ${until.toISOString()}`;
}

interface Running {
  readonly soak: ClusterSoak;
  readonly until: Date;
  readonly because: string;
}

function soaking({ sync, target, rules, now }: Look, { soak, until, because }: Running): Progress {
  const checks = nextRuns(soak.gates ?? [], rules.checks, now);
  const later = checks.filter(({ at }) => at > now).map(({ at }) => at);
  const end = until > now ? until : new Date(+now + LOOK_AGAIN_MS);
  const next = { ...sync, soak: writtenSeldom(sync.soak, soak) };
  const failed = failureOf(sync, target.digest) !== undefined;
  const said = failed
    ? stillFailed(next, target.digest)
    : saying('Soaking', next, { reason: 'Soaking', because });
  return {
    ...said,
    until,
    due: checks.filter(({ at }) => at <= now).map(({ check }) => check),
    ...optional('wakeAt', earliest([end, nextLook(now), ...later])),
  };
}

/** A soak is looked at as often as it is written down, or the time between would count as unseen. */
function nextLook(now: Date): Date {
  return new Date(+now + WRITTEN_EVERY_MS);
}

/** What failed here soaks as a whole. What is not rendered any more goes on soaking: nothing is let off. */
function toSoak({ sync, soak, target, known, history, cluster }: Look): readonly string[] {
  if (failureOf(sync, target.digest)) return [ALL_UNITS];
  if (known) return unitsToSoak(sync, target, { history, cluster });
  if (isProven(sync, target.digest)) return [];
  const units = (soak.clocks ?? []).map(({ unit }) => unit);
  return units.length > 0 ? units : [ALL_UNITS];
}

function prove({ sync, target, now }: Look, at: Date): Progress {
  const { soak: _over, ...rest } = sync;
  const proof = { digest: target.digest, commit: sync.commit ?? '', provenAt: now.toISOString() };
  const because = `healthy and in sync at ${at.toISOString()}`;
  return saying('Proven', { ...rest, ...withProof(sync, proof) }, { reason: 'Proven', because });
}

/** Only the moment of the last good look has changed: it is written down at intervals, not with every look. */
function writtenSeldom(before: ClusterSoak | undefined, after: ClusterSoak): ClusterSoak {
  if (before?.observedAt === undefined || after.observedAt === undefined) return after;
  const age = Date.parse(after.observedAt) - Date.parse(before.observedAt);
  return age < 0 || age >= WRITTEN_EVERY_MS ? after : { ...after, observedAt: before.observedAt };
}
