/**
 * Checks what must hold whenever a job is created or written: only one is at work on a machine, and there are no more of them than the
 * ladder has. Pure.
 */
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import { simulatedRemediers } from '../remediers.ts';

type Job = RemedyOperationJob | undefined;

export function jobViolations(
  before: Job,
  after: Job,
  jobs: readonly RemedyOperationJob[],
): readonly string[] {
  if (!after) return [];
  return [
    ...(before ? [] : [...activeViolations(after, jobs), ...ladderViolations(after, jobs)]),
    ...outcomeViolations(before, after),
  ];
}

function activeViolations(job: RemedyOperationJob, jobs: readonly RemedyOperationJob[]): readonly string[] {
  const other = jobs.find(
    (each) =>
      each.metadata.uid !== job.metadata.uid &&
      each.spec.machine.uid === job.spec.machine.uid &&
      each.status?.outcome === undefined,
  );
  return other ? ['a second job at work on the machine'] : [];
}

function ladderViolations(
  { spec }: RemedyOperationJob,
  jobs: readonly RemedyOperationJob[],
): readonly string[] {
  const remedier = simulatedRemediers().find(({ metadata }) => metadata.name === spec.cause.remedier);
  const rung = remedier?.spec.ladder[spec.rung.index - 1];
  if (!rung) return [`a job of rung ${spec.rung.index}, which the ladder does not have`];
  const tried = jobs.filter(
    (each) =>
      each.spec.cause.case === spec.cause.case &&
      each.spec.machine.uid === spec.machine.uid &&
      each.spec.rung.index >= spec.rung.index,
  );
  const above = tried.filter((each) => each.spec.rung.index > spec.rung.index);
  return [
    ...(tried.length - above.length > rung.maxAttempts
      ? [`more attempts of rung ${rung.name} than it has`]
      : []),
    ...(above.length > 0 ? [`rung ${rung.name} after a higher one`] : []),
  ];
}

function outcomeViolations(before: Job, after: RemedyOperationJob): readonly string[] {
  const [first, next] = [before?.status?.outcome?.class, after.status?.outcome?.class];
  return first !== undefined && first !== next ? [`outcome ${next} after outcome ${first}`] : [];
}
