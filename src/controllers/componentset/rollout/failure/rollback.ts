/** Takes a bad revision back: the machines of the failed batch first, then those before it. Pure. */

import { versionsText } from '../../../../api/machine/versions-text.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Explanation } from '../../../../rollout/explanation.ts';
import type { Limit } from '../../../../rollout/limit.ts';
import type { MemberState } from '../../machine/member-state.ts';
import { addRecord, recordFor, recordOf } from '../../revision/history.ts';
import type { Revision } from '../../revision/resolve.ts';
import { batchGate } from '../checks/gate.ts';
import type { RolloutStep } from '../forward.ts';
import type { RolloutAction, RolloutInput, RolloutMode, RolloutProgress } from '../input.ts';
import { permissionFor } from '../permission.ts';
import { pickMembers } from '../slots.ts';
import { startWait } from '../start-wait.ts';
import { isUpdateOpen } from '../upkeep/restarts.ts';
import { failedMembers } from './failure.ts';

/** A first rollout that fails has nothing to return to. */
export function mayRollBack(
  input: RolloutInput,
): input is RolloutInput & { readonly desired: { readonly revision: Revision } } {
  const { desired, stable, set } = input;
  return 'revision' in desired && stable !== undefined && set.spec.rollout.failure.onFailure !== 'Pause';
}

/** Recorded before the first machine goes back, so that a crash does not forget it. */
export function beginRollback(
  { set }: RolloutInput,
  progress: RolloutProgress,
  { bad, failure }: { readonly bad: Revision; readonly failure: Explanation },
): RolloutProgress {
  const record = recordFor(bad, {
    result: 'RolledBack',
    failure,
    ...optional('commit', progress.commit),
    ...optional('retryToken', set.spec.retryToken),
    ...optional('startedAt', progress.startedAt?.toISOString()),
  });
  return { ...progress, history: addRecord(progress.history, record) };
}

/** Also after its end: a machine may return to the set with a revision that was rolled back meanwhile. */
export function goesBack(input: RolloutInput, progress: RolloutProgress, mode: RolloutMode): boolean {
  return mode === 'RollingBack' || (mode === 'Refused' && rollbackScope(input, progress).length > 0);
}

export function planRollback(
  input: RolloutInput,
  progress: RolloutProgress,
  { stable, availability }: { readonly stable: Revision; readonly availability: Limit },
): RolloutStep {
  const scope = rollbackScope(input, progress);
  const returning = input.members.filter((member) => isReturning(member, stable));
  if (scope.length === 0 && returning.length === 0) return finish(input, progress, stable);
  const waits = new Map(
    scope.map((each) => [each, startWait(each, stable, permissionFor(input, each, stable, true))]),
  );
  const ready = scope.filter((member) => !waits.get(member));
  const { members } = pickMembers(ready, ready.length, availability.slots);
  const actions = members.map((member): RolloutAction => {
    const permission = permissionFor(input, member, stable, true);
    return {
      type: 'Assign',
      member,
      revision: stable,
      permission,
      because: `back from ${badVersions(input, progress)}`,
    };
  });
  const limit = rollbackLimit({ scope, returning, waits, isStarting: members.length > 0, availability });
  const because = `back to ${versionsText(stable.components)}: ${scope.length} to go, ${returning.length} in work${failedReturns(input.members, stable)}`;
  const own = limit.because === '' ? because : `${because}; ${limit.because}`;
  return { progress, actions, limit: { ...limit, because: own } };
}

interface Returning {
  readonly scope: readonly MemberState[];
  readonly returning: readonly MemberState[];
  readonly waits: ReadonlyMap<MemberState, Explanation | undefined>;
  readonly isStarting: boolean;
  readonly availability: Limit;
}

/** While no machine goes back, the whole set waits for what blocks the first of them. */
function rollbackLimit({ scope, returning, waits, isStarting, availability }: Returning): Limit {
  if (returning.length === 0 && !isStarting) {
    const isReady = scope.some((member) => !waits.get(member));
    const wait = isReady ? undefined : [...waits.values()][0];
    return wait ? { ...wait, slots: 0 } : availability;
  }
  const blocker = [...scope, ...returning].map(({ name }) => ({ kind: 'Machine', name }))[0];
  return { slots: 0, reason: 'RollingBack', because: '', ...optional('blocker', blocker) };
}

/**
 * With its grant a machine is on its way, also while its agent is silent, or when it takes too long: that does not end the rollback.
 * So is one whose drain was given up in a pause, unless a person holds it.
 */
function isReturning(member: MemberState, stable: Revision): boolean {
  const { revision, step, holdsGrant, hold } = member;
  if (revision !== stable.name) return false;
  if (step === 'NeedsGrant') return !hold && isUpdateOpen(member);
  return step === 'InWork' || (holdsGrant && (step === 'Unknown' || step === 'Failed'));
}

/** A rollback that leaves machines out of order did not do what it is for: that is reported with it. Empty where there are none. */
export function failedReturns(members: readonly MemberState[], stable: Revision | undefined): string {
  const failed = members.filter(({ revision, step }) => revision === stable?.name && step === 'Failed');
  const [first] = failed;
  if (!first || !stable) return '';
  return `; machines that failed at ${versionsText(stable.components)}: ${failed.length}. ${first.name}: ${first.because}`;
}

/** Names the versions that go back, by what the set asks for, or else by their record. */
function badVersions({ desired }: RolloutInput, { updateRevision = '', history }: RolloutProgress): string {
  if ('revision' in desired && desired.revision.name === updateRevision) {
    return versionsText(desired.revision.components);
  }
  return recordOf(history, updateRevision)?.components?.join(', ') ?? updateRevision;
}

/** By the policy, in the reverse order of the batches. A failed check blames no machine, so every machine of its batch has failed. */
function rollbackScope(input: RolloutInput, progress: RolloutProgress): readonly MemberState[] {
  const { set, members } = input;
  const { updateRevision, batch } = progress;
  const isBlamed = batchGate(input, progress).state === 'Failed';
  const isOfBatch = (member: MemberState): boolean => member.batch === batch?.index;
  const bad = members.filter(({ revision }) => revision === updateRevision);
  const failed = new Set(failedMembers(members, progress));
  const scope = {
    Pause: () => false,
    RollbackFailed: (member: MemberState) => failed.has(member) || (isBlamed && isOfBatch(member)),
    RollbackBatch: (member: MemberState) => failed.has(member) || isOfBatch(member),
    RollbackAll: () => true,
  }[set.spec.rollout.failure.onFailure];
  return bad.filter(scope).toSorted((a, b) => (b.batch ?? 0) - (a.batch ?? 0));
}

function finish(input: RolloutInput, progress: RolloutProgress, stable: Revision): RolloutStep {
  const { now, members } = input;
  const record = recordOf(progress.history, progress.updateRevision ?? '');
  const ended = { ...record, finishedAt: now.toISOString() };
  const because = `${badVersions(input, progress)} was rolled back${failedReturns(members, stable)}`;
  const limit: Explanation = { reason: 'RolledBack', because };
  return {
    progress: { ...progress, history: addRecord(progress.history, ended) },
    actions: [],
    limit: { ...limit, slots: 0 },
  };
}
