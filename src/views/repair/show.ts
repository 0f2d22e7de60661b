/** Shows one job to people: what it repairs, what it waits for, when what happened, and its steps. Pure. */

import type { JobDrain } from '../../api/generated/types.ts';
import { RESOLVED } from '../../api/status/step-records.ts';
import { formatAge, shortCommit } from '../text/age.ts';
import { fitTable, formatField, formatTitle } from '../text/wrap.ts';
import type { JobView } from './job.ts';
import { isOver } from './job.ts';
import type { JobStepView } from './steps.ts';

export function formatJob(view: JobView, now: Date, columns: number): string {
  const summary = formatJobSummary(view, now, columns);
  return `${summary}\n${timelineTable(view, columns)}\n${stepTable(view.steps, now, columns)}`;
}

/** Formats what the job repairs and waits for, without its times and steps. */
export function formatJobSummary(view: JobView, now: Date, columns: number): string {
  const field = (name: string, text: string): string => formatField(name, text, columns);
  return [
    formatTitle(view.job, headline(view, now), columns),
    field('repairs', `machine ${view.machine}, by rule ${view.rule} of commit ${shortCommit(view.commit)}`),
    field('because', view.evidence.join('; ')),
    field('rung', `${view.rung}, attempt ${view.attempt}, risk ${view.risk}`),
    field('waits', waitText(view, now)),
    field('unblocks', view.unblock),
    field('drain', isOver(view.state) ? '' : drainText(view.drain)),
    field('cancelled', view.cancel ? `by ${view.cancel.by}: ${view.cancel.reason}` : ''),
    field('outcome', view.outcome ?? ''),
    field(
      'notified',
      view.notified.map(({ receiver, step, at }) => `${receiver} of ${stepText(step)} at ${at}`).join('; '),
    ),
  ].join('');
}

function headline({ phase, created, deadline, state }: JobView, now: Date): string {
  const ends = isOver(state) ? '' : `, must end by ${deadline}`;
  return `${phase}, created ${formatAge(created, now)} ago${ends}`;
}

function waitText({ waiting }: JobView, now: Date): string {
  if (!waiting) return '';
  const { reason, since, message } = waiting;
  return [`${reason} ${formatAge(since, now)}`, message].filter(Boolean).join(': ');
}

function drainText(drain: JobDrain | undefined): string {
  if (!drain) return '';
  const { total = 0, evicted = 0, pending = 0, blockedBy = [] } = drain;
  const blocked = blockedBy.length > 0 ? `, blocked by ${blockedBy.join(', ')}` : '';
  return `${evicted} of ${total} pods evicted, ${pending} left${blocked}`;
}

function timelineTable({ timeline, state }: JobView, columns: number): string {
  const reached = timeline.filter(({ at }) => at !== undefined);
  const rows = timeline.map((entry) => {
    const before = reached[reached.indexOf(entry) - 1];
    if (entry.at === undefined) return [entry.what, '-', '', isOver(state) ? 'not reached' : ''];
    const took = before ? `+${formatAge(before.at, new Date(entry.at))}` : '';
    return [entry.what, entry.at, took, entry.because];
  });
  return fitTable({ columns: ['timeline', 'at', 'after', ''], rows }, columns);
}

function stepTable(steps: readonly JobStepView[], now: Date, columns: number): string {
  const rows = steps.map((step) => [
    `${step.id} ${step.step}`,
    step.tries > 1 ? `${step.state} (try ${step.tries})` : step.state,
    step.by,
    tookText(step, now),
    step.because,
  ]);
  return fitTable({ columns: ['step', 'state', 'by', 'took', 'why'], rows }, columns);
}

function tookText({ startedAt, finishedAt }: JobStepView, now: Date): string {
  return startedAt === undefined ? '-' : formatAge(startedAt, finishedAt ? new Date(finishedAt) : now);
}

function stepText(step: string): string {
  return step.endsWith(RESOLVED) ? `the end of ${step.slice(0, -RESOLVED.length)}` : step;
}
