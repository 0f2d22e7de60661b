/** Formats one line for each job, and counts the jobs of each phase. Pure. */

import { byCode } from '../../kube/objects/digest.ts';
import { clusterColumn, type InCluster } from '../fleet/cluster-column.ts';
import { formatAge } from '../text/age.ts';
import { formatCount } from '../text/counts.ts';
import { COLUMNS, fitTable, formatHanging } from '../text/wrap.ts';
import { isOver, type JobState, type JobView } from './job.ts';

/** The order of the states: jobs that need a person first, then those in work, then those that ended. */
const ORDER: readonly JobState[] = ['NeedsPerson', 'Running', 'Failed', 'Ended', 'Succeeded'];

/** Sorts jobs by their state; those that ended come last, the newest first. */
export function sortJobs<T extends JobView & InCluster>(views: readonly T[]): readonly T[] {
  return views.toSorted(
    (a, b) =>
      Number(isOver(a.state)) - Number(isOver(b.state)) ||
      (isOver(a.state) ? byCode(b.created ?? '', a.created ?? '') : 0) ||
      ORDER.indexOf(a.state) - ORDER.indexOf(b.state) ||
      byCode(placeOf(a), placeOf(b)),
  );
}

function placeOf({ cluster = '', job }: JobView & InCluster): string {
  return `${cluster}/${job}`;
}

export interface JobListSize {
  readonly limit: number;
  readonly columns?: number;
  /** Whether the jobs are those of several clusters. */
  readonly isFleet?: boolean;
}

export function formatJobs(
  views: readonly (JobView & InCluster)[],
  now: Date,
  { limit, columns = COLUMNS, isFleet = false }: JobListSize,
): string {
  const cluster = clusterColumn(isFleet);
  if (views.length === 0) return 'no repair jobs\n';
  const shown = sortJobs(views).slice(0, limit);
  const table = fitTable(
    {
      columns: [...cluster.names, 'job', 'machine', 'rule', 'rung', 'phase', 'age', 'why'],
      rows: shown.map((view) => [
        ...cluster.cells(view),
        view.job,
        view.machine,
        view.rule,
        view.attempt > 1 ? `${view.rung} #${view.attempt}` : view.rung,
        view.phase,
        formatAge(view.created, now),
        whyText(view, now),
      ]),
    },
    columns,
  );
  const more = views.length - shown.length;
  const hidden = more > 0 ? `and ${more} more: --limit ${views.length} lists all\n` : '';
  return `${formatHanging('', summary(views), columns)}\n${table}${hidden}`;
}

/** Explains what the job waits for, or how it ended; empty if it succeeded. */
export function whyText({ waiting, outcome, state }: JobView, now: Date): string {
  if (state === 'Succeeded') return '';
  if (!waiting) return outcome ?? '';
  const { reason, since, message } = waiting;
  return [`${reason} ${formatAge(since, now)}`, message].filter(Boolean).join(': ');
}

function summary(views: readonly JobView[]): string {
  const counts = Map.groupBy(views, ({ phase }) => phase);
  const parts = [...counts]
    .toSorted(([a], [b]) => byCode(a, b))
    .map(([phase, own]) => `${own.length} ${phase}`);
  return `${formatCount(views.length, 'job')}: ${parts.join(', ')}`;
}
