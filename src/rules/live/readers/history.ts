/** Reads earlier repairs of the machine: the steps of its jobs that began. */
import type { JobStepStatus, RemedyOperationJob } from '../../../api/generated/types.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { ageSecondsAt, type TimePoint } from '../../clocks/time-point.ts';
import { UNKNOWN_READING } from '../../compiled-rule.ts';
import type { Observation } from '../../facts/field.ts';
import { historyFact } from '../../facts/history.ts';
import { type ReadFact, unknownAnswer } from '../../facts/reading/answer.ts';

export const readHistory: ReadFact = ({ problems, jobs, machine, point }, params) => {
  const problem = problems.jobs ?? problems.machines;
  if (problem !== undefined) return unknownAnswer(problem);
  const entries = jobs
    .filter(({ spec }) => spec.machine.uid === machine?.metadata.uid)
    .flatMap((job) => startedSteps(job, point));
  // Jobs are kept for the longest window that a rule reads: its compiler checks that.
  const reading = historyFact.observed?.read(entries, params, Infinity) ?? UNKNOWN_READING;
  const windowSeconds = Number(params['windowSeconds']);
  const ages = entries
    .filter(({ action }) => action === params['action'])
    .map(({ ageSeconds }) => Number(ageSeconds))
    .filter((age) => age <= windowSeconds);
  return { reading, changesInMs: (windowSeconds - Math.max(-Infinity, ...ages)) * 1000 };
};

/** When its last step ended, by the clock of the controllers; undefined for a job that did nothing, or is not finished. */
export function endOfJob({ status }: RemedyOperationJob): string | undefined {
  const begun = (status?.steps ?? []).filter(hasBegun);
  if (!status?.outcome || begun.length === 0) return undefined;
  const { settledAt, verifiedAt, executedAt } = status.timeline ?? {};
  const finished = begun.flatMap(({ finishedAt, startedAt }) => finishedAt ?? startedAt ?? []).toSorted();
  return [settledAt, verifiedAt, executedAt].find((at) => at !== undefined) ?? finished.at(-1);
}

function startedSteps(job: RemedyOperationJob, point: TimePoint): readonly Observation[] {
  const names = new Map(job.spec.plan.map(({ id, step }) => [id, step.split('@')[0] ?? '']));
  return (job.status?.steps ?? []).filter(hasBegun).flatMap(({ id, startedAt }) => {
    const action = names.get(id);
    const ageSeconds = ageSecondsAt(point, startedAt);
    if (action === undefined || ageSeconds === undefined) return [];
    return [{ action, ageSeconds, ...optional('outcome', job.status?.outcome?.class) }];
  });
}

function hasBegun({ state, startedAt }: JobStepStatus): boolean {
  return state !== 'Pending' && state !== 'Skipped' && parseTime(startedAt) !== undefined;
}
