/**
 * How far one cluster is with the content that was assigned to it: its recorded status, updated by what was observed. Pure.
 * stage.ts decides which commit is assigned.
 */

import type { ClusterSoak, ClusterSync } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { firstMoment } from '../../../os/dates.ts';
import { type GateResult, gateResult, nextRuns } from '../../../rollout/checks/gate.ts';
import { type Explanation } from '../../../rollout/explanation.ts';
import { notAfter, RECORD_EVERY_MS, soakEndsAt, stopSoak } from '../../../rollout/soak-clock.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import {
  type ContentObservation,
  findObstacle,
  isObservedUnsettled,
  type ObservationContext,
  type Obstacle,
  observeContent,
  observedFailure,
  type SoakRules,
  withCheckRuns,
} from './observation.ts';
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

/** Requeue delay when the soak has ended but the last observation of health is older than its end. */
const OBSERVE_AGAIN_MS = 2000;
const PROVEN: Explanation = { reason: 'Proven', because: 'proven on this cluster' };

/** Derives the progress from the record alone, while the cluster cannot be observed: nothing becomes proven or failed. */
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

export function observedProgress(
  snapshot: ClusterSnapshot,
  sync: ClusterSync,
  context: ObservationContext,
  rules: SoakRules,
): ClusterProgress {
  const { report } = snapshot;
  const digest = sync.renderedDigest;
  if (!report || digest === undefined) return recordedProgress(sync);
  const observation = observeContent({ ...snapshot, report }, { sync, digest }, context, rules);
  return sync.soak || !isProven(sync, digest) ? beforeProof(observation) : afterProof(observation);
}

/** Only a definite failure revokes a proof: everything else is drift, and is corrected. */
function afterProof(observation: ContentObservation): ClusterProgress {
  return observation.health?.answer === 'Failed'
    ? fail(observation, observation.health)
    : progressIn('Proven', observation.sync, PROVEN);
}

function beforeProof(observation: ContentObservation): ClusterProgress {
  const counted = withCheckRuns(observation);
  const failure = observedFailure(counted);
  if (failure) return fail(counted, failure);
  const obstacle = findObstacle(counted);
  return obstacle ? waitOn(counted, obstacle) : continueSoak(counted);
}

/** The soak restarts once it is healthy again: the failure ends when all gates hold for a whole soak. */
function fail(
  { sync, soak, now, target }: ContentObservation,
  { reason, because, blocker }: Explanation,
): ClusterProgress {
  const failure = {
    digest: target.digest,
    commit: sync.commit ?? '',
    failedAt: now.toISOString(),
    reason,
    message: because,
    ...optional('provenAt', soak.provenAt),
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

function waitOn(observation: ContentObservation, obstacle: Obstacle): ClusterProgress {
  const { sync, target, now } = observation;
  const { lateAt, failing = false, state, ...explanation } = obstacle;
  const soak = isObservedUnsettled(observation) ? stopSoak(observation.soak, now) : observation.soak;
  const startedAt = soak.startedAt && notAfter(soak.startedAt, now);
  const next = { ...sync, soak: { ...soak, ...optional('startedAt', startedAt) } };
  if (failureOf(sync, target.digest)) return recordedFailure(next, target.digest, explanation.blocker);
  const waiting = soak.settledAt === undefined ? 'Applying' : 'Soaking';
  return { ...progressIn(state ?? waiting, next, explanation), failing, ...optional('requeueAt', lateAt) };
}

/** Continues the soak of content that was applied, in sync and healthy when last observed. */
function continueSoak(observation: ContentObservation): ClusterProgress {
  const { rules, target, now } = observation;
  const at = observation.health?.observedAt ?? now;
  const gate = gateResult(observation.soak.gates ?? [], rules.checks);
  const before = gate.state === 'Inconclusive' ? restartSoak(observation.soak) : observation.soak;
  const soak = recordHealthy(before, target, soakingUnits(observation), at);
  const until = soakEndsAt(soak, rules.soakSeconds) ?? at;
  if (at >= until && gate.state === 'Open') return prove(observation, at);
  return keepSoaking(observation, { soak, until, because: soakingReason(gate, at, until) });
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
  { sync, target, rules, now }: ContentObservation,
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
    ...optional('requeueAt', firstMoment([end, nextRecord(now), ...later])),
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
}: ContentObservation): readonly string[] {
  if (failureOf(sync, target.digest)) return [ALL_UNITS];
  if (isRendered) return unitsToSoak(sync, target, { history, cluster });
  if (isProven(sync, target.digest)) return [];
  const units = (soak.clocks ?? []).map(({ unit }) => unit);
  return units.length > 0 ? units : [ALL_UNITS];
}

function prove({ sync, target, now }: ContentObservation, at: Date): ClusterProgress {
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
