/** Counts the runs of the checks of the open batch, in what the rollout remembers. Pure. */
import { optional } from '../../../../kube/objects/optional.ts';
import { lastMoment, secondsAfter } from '../../../../os/dates.ts';
import { countRuns } from '../../../../rollout/checks/gate.ts';
import type { OpenBatch, RolloutInput, RolloutProgress } from '../input.ts';
import { askedChecks } from './gate.ts';

/** Counts the runs of this soak. Those that began before the batch was settled say nothing about it. */
export function countCheckRuns(
  input: Pick<RolloutInput, 'set' | 'runs' | 'now'>,
  progress: RolloutProgress,
): RolloutProgress {
  const { batch, stopped } = progress;
  if (!batch?.soakUntil || stopped) return progress;
  const since = batch.settledAt ?? batch.startedAt;
  const runs = input.runs.filter(({ at }) => at >= since && at <= input.now);
  const { gates: before = [], ...rest } = batch;
  const gates = countRuns(before, runs, askedChecks(input));
  const counted = gates.length > 0 ? { ...rest, gates } : rest;
  return { ...progress, batch: withLongerSoak(input, counted) };
}

/** ROL-21: a check that has had no result for longer than its interval observed nothing, so the soak begins again at its last run. */
function withLongerSoak({ set }: Pick<RolloutInput, 'set'>, batch: OpenBatch): OpenBatch {
  const { gates = [], soakUntil } = batch;
  const ends = gates.map(({ result, consecutive = 1, ranAt }) =>
    result === 'Unknown' && consecutive > 1 && ranAt !== undefined
      ? secondsAfter(new Date(ranAt), set.spec.rollout.gate.soakSeconds)
      : undefined,
  );
  return { ...batch, ...optional('soakUntil', lastMoment([soakUntil, ...ends])) };
}

/** Forgets what checks found last, for a soak that begins again. What they counted is of the batch, and stays. */
export function withoutLastResults({ gates, ...batch }: OpenBatch): OpenBatch {
  const counts = gates?.map(({ name, asked, failures, inconclusive }) => ({
    name,
    ...optional('asked', asked),
    ...optional('failures', failures),
    ...optional('inconclusive', inconclusive),
  }));
  return { ...batch, ...optional('gates', counts) };
}

/** For a rollout that a person resumed, or gave another retry token: runs before do not count again. */
export function withoutCheckRuns(progress: RolloutProgress): RolloutProgress {
  if (progress.batch?.gates === undefined) return progress;
  const { gates: _gates, ...batch } = progress.batch;
  return { ...progress, batch };
}
