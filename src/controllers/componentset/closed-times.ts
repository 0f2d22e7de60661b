/** The windows and freezes by which a set is judged. Pure. */
import type { MachineComponentSet, RolloutClosedTimes } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { judgedLimit, strictestTimes } from '../../rollout/closed-times.ts';
import type { Limit } from '../../rollout/limit.ts';
import { recordInForce } from './in-force.ts';
import type { RolloutInput, RolloutProgress } from './rollout/input.ts';

/** Records the change that a reconcile observes. A set that is paused is not at its change yet. */
export function recordClosedTimes(
  { set }: Pick<RolloutInput, 'set'>,
  progress: RolloutProgress,
): RolloutProgress {
  const times = recordInForce(progress.closedTimes, declaredTimes(set), (before, now) => ({
    ...now,
    ...strictestTimes(before, now),
  }));
  return times === progress.closedTimes ? progress : withTimes(progress, times);
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
