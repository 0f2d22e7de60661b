/** Lists what changed between two observations of a job, a line each: for logs and pipes. Pure. */
import { printableLine } from '../../../../kube/objects/printable.ts';
import type { JobView } from '../../../../views/repair/job.ts';

/** Lists the changes of a job since `before`; without it, everything that happened so far. */
export function jobChangeLines(before: JobView | undefined, after: JobView): readonly string[] {
  const known = new Set(before && factLines(before));
  return factLines(after)
    .filter((line) => !known.has(line))
    .map((line) => `${after.job}: ${printableLine(line)}`);
}

/** Lists the changes of all jobs that are new or changed. */
export function jobsChangeLines(
  before: readonly JobView[] | undefined,
  after: readonly JobView[],
): readonly string[] {
  const known = new Map(before?.map((view) => [view.job, view]));
  return after.flatMap((view) => jobChangeLines(known.get(view.job), view));
}

/** Lists everything that is true of the job and worth a line; nothing that only ages. */
function factLines(view: JobView): readonly string[] {
  const { timeline, steps, waiting, unblock, cancel, outcome, phase } = view;
  return [
    ...timeline.flatMap(({ what, at, because }) => (at === undefined ? [] : `${what} at ${at}: ${because}`)),
    ...steps.flatMap(({ id, step, state, tries, because }) => {
      if (state === 'Pending') return [];
      const text = tries > 1 ? `${state} (try ${tries})` : state;
      return [[`${id} ${step} ${text}`, because].filter(Boolean).join(': ')];
    }),
    ...(cancel ? [`cancelled by ${cancel.by}: ${cancel.reason}`] : []),
    ...(waiting
      ? [`waits: ${[waiting.reason, waiting.message].filter(Boolean).join(': ')}. Next: ${unblock}`]
      : []),
    ...(outcome === undefined ? [] : [`outcome ${outcome}`]),
    phase,
  ];
}
