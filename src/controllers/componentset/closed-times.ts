/**
 * By which windows and freezes a set is judged: a change that brings anything besides them is judged by those in force before it,
 * too, until its rollout is complete or the set is changed again. Pure.
 */
import type { MachineComponentSet, RolloutClosedTimes } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { judgedLimit, strictestTimes } from '../../rollout/closed-times.ts';
import type { Limit } from '../../rollout/limit.ts';
import type { RolloutInput, RolloutProgress } from './rollout/input.ts';

/** Records the change that a reconcile observes. A set that is paused is not at its change yet. */
export function recordClosedTimes(
  { set }: Pick<RolloutInput, 'set'>,
  progress: RolloutProgress,
): RolloutProgress {
  const { closedTimes: before } = progress;
  const now = declaredTimes(set);
  if (!before) return withTimes(progress, now);
  const isSameSpec = before.spec === now.spec;
  const isSameTimes = before.declared === now.declared;
  if (isSameSpec && isSameTimes) return progress;
  // What changes nothing else loosens nothing that it is judged by, and what keeps the times is judged by them.
  if (isSameSpec || isSameTimes) return withTimes(progress, now);
  return withTimes(progress, { ...now, ...strictestTimes(before, now) });
}

/** Ends the judgment of a change whose rollout is complete: its own times are in force. */
export function completeClosedTimes(
  { set }: Pick<RolloutInput, 'set'>,
  progress: RolloutProgress,
): RolloutProgress {
  return withTimes(progress, declaredTimes(set));
}

function withTimes(progress: RolloutProgress, times: RolloutClosedTimes): RolloutProgress {
  const { closedTimes: _before, ...rest } = progress;
  const isEmpty = times.windows.length === 0 && times.freezes.length === 0;
  return { ...rest, ...optional('closedTimes', isEmpty ? undefined : times) };
}

function declaredTimes({ spec }: MachineComponentSet): RolloutClosedTimes {
  // A person approves batches by a command, which does not change what the set asks for.
  const { windows, freezes, approved: _approved, ...rollout } = spec.rollout;
  const rest = digestOf({ ...spec, rollout });
  return { spec: rest, declared: digestOf({ windows, freezes }), windows, freezes };
}

/** Returns why the set starts no machine that serves, and until when. */
export function setClosedLimit(
  { set, now }: Pick<RolloutInput, 'set' | 'now'>,
  { closedTimes }: RolloutProgress,
): Limit | undefined {
  return judgedLimit(set.spec.rollout, closedTimes, now, 'set');
}
