/** Takes a bad revision back: the machines of the failed batch first, then those before it. Pure. */
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import type { MemberState } from '../machine/member-state.ts';
import { addRecord, recordFor, recordOf } from '../revision/history.ts';
import type { Revision } from '../revision/resolve.ts';
import { failedMembers } from './failure.ts';
import type { RolloutStep } from './forward.ts';
import type { Permission, RolloutAction, RolloutInput, RolloutProgress } from './input.ts';
import { pickMembers } from './slots.ts';
import { startWait } from './start-wait.ts';

/** Recorded before the first machine goes back, so that a crash does not forget it. */
export function beginRollback(
  { set }: RolloutInput,
  progress: RolloutProgress,
  bad: Revision,
): RolloutProgress {
  const { retryToken } = set.spec;
  const started = progress.batch && { startedAt: progress.batch.startedAt.toISOString() };
  const record = recordFor(bad, {
    result: 'RolledBack',
    ...(retryToken !== undefined && { retryToken }),
    ...started,
  });
  return { ...progress, history: addRecord(progress.history, record) };
}

export function planRollback(
  input: RolloutInput,
  progress: RolloutProgress,
  { stable, availability }: { readonly stable: Revision; readonly availability: Limit },
): RolloutStep {
  const scope = rollbackScope(input, progress);
  const returning = input.members.filter((each) => each.revision === stable.name && each.step === 'InWork');
  if (scope.length === 0 && returning.length === 0) return finish(input, progress);
  const ready = scope.filter((member) => !startWait(member, stable, permissionFor(input, member, stable)));
  const { members } = pickMembers(ready, ready.length, availability.slots);
  const actions = members.map((member): RolloutAction => {
    const permission = permissionFor(input, member, stable);
    return {
      do: 'Assign',
      member,
      revision: stable,
      permission,
      because: `back from ${progress.updateRevision}`,
    };
  });
  const because = `back to ${stable.name}: ${scope.length} to go, ${returning.length} in work`;
  return { progress, actions, limit: { slots: 0, reason: 'RollingBack', because } };
}

/** By the policy, in the reverse order of the batches. */
function rollbackScope({ set, members }: RolloutInput, progress: RolloutProgress): readonly MemberState[] {
  const { updateRevision, batch } = progress;
  const bad = members.filter(({ revision }) => revision === updateRevision);
  const failed = new Set(failedMembers(members, progress));
  const scope = {
    Pause: () => false,
    RollbackFailed: (member: MemberState) => failed.has(member),
    RollbackBatch: (member: MemberState) => failed.has(member) || member.batch === batch?.index,
    RollbackAll: () => true,
  }[set.spec.rollout.failure.onFailure];
  return bad.filter(scope).toSorted((a, b) => (b.batch ?? 0) - (a.batch ?? 0));
}

function finish({ now }: RolloutInput, progress: RolloutProgress): RolloutStep {
  const record = recordOf(progress.history, progress.updateRevision ?? '');
  const ended = { ...record, finishedAt: now.toISOString() };
  const limit: Explanation = { reason: 'RolledBack', because: `${progress.updateRevision} was rolled back` };
  return {
    progress: { ...progress, history: addRecord(progress.history, ended) },
    actions: [],
    limit: { ...limit, slots: 0 },
  };
}

function permissionFor(input: RolloutInput, member: MemberState, stable: Revision): Permission {
  return { by: member.holdsGrant ? 'Renew' : 'Ask', class: input.classOf(member, stable), recovery: true };
}
