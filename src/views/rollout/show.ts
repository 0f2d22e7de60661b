/** Shows a rollout to people: what happens, why, since when, and what unblocks it. Pure. */
import type { CheckResult, Wait } from '../../api/generated/types.ts';
import type { Reason } from '../../api/names.ts';
import { closedSetNotes } from '../status/closed-times.ts';
import { formatAge } from '../text/age.ts';
import { formatCount, formatShare } from '../text/counts.ts';
import { COLUMNS, fitTable, formatField, formatTitle } from '../text/wrap.ts';
import type { RolloutState } from './outcome.ts';
import type { BatchView, RolloutView, VersionChange } from './view.ts';

export interface TextSize {
  readonly columns: number;
  /** Lines that may be used for the lists of machines. Undefined: all of them are shown. */
  readonly listRows?: number;
}

export function formatRollout(
  view: RolloutView,
  now: Date,
  { columns, listRows }: TextSize = { columns: COLUMNS },
): string {
  const field = (name: string, text: string): string => formatField(name, text, columns);
  const summary = [
    formatTitle(view.set, headline(view, now), columns),
    field('change', view.changes.map(changeText).join(', ')),
    field('revision', reviewedRevision(view)),
    field('progress', progressText(view, Math.min(columns, COLUMNS))),
    field('batch', batchText(view, now)),
    field('checks', checksText(view)),
    field('plan', planText(view)),
    field(view.waiting ? 'waits' : 'state', whyText(view, now)),
    field('unblocks', view.unblock),
    field('closed', closedSetNotes(view.closedTimes, now).join('; ')),
  ].join('');
  return `${summary}${machineLists(view, now, columns, listRows)}`;
}

function headline({ phase, since }: RolloutView, now: Date): string {
  return since === undefined ? phase : `${phase} ${formatAge(since, now)}`;
}

function changeText({ component, from, to }: VersionChange): string {
  if (to === undefined) return `${from ?? component} is removed`;
  return from === undefined ? `${to} (new)` : `${from} → ${to}`;
}

/** Shows what `kubenode rollout approve --revision` takes. Elsewhere the versions say more. */
function reviewedRevision({ to = '', waiting }: RolloutView): string {
  return waiting?.reason === ('ApprovalRequired' satisfies Reason) ? to : '';
}

const BAR_WIDTH = 24;

function progressText({ counts }: RolloutView, columns: number): string {
  const { selected, updated } = counts;
  if (selected === 0) return 'no machine is selected';
  const filled = Math.floor((BAR_WIDTH * Math.min(updated, selected)) / selected);
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`;
  const others = COUNTED.flatMap(([field, what]) => (counts[field] > 0 ? [`${counts[field]} ${what}`] : []));
  const text = [formatShare(updated, selected, 'machine'), ...others].join(', ');
  return columns < COLUMNS ? text : `${bar} ${text}`;
}

const COUNTED = [
  ['inProgress', 'in work'],
  ['failed', 'failed'],
  ['rolledBack', 'rolled back'],
  ['blocked', 'blocked'],
  ['held', 'held'],
  ['pinned', 'pinned'],
  ['skipped', 'skipped'],
  ['drifted', 'with drift'],
] as const;

function batchText(view: RolloutView, now: Date): string {
  const { batch, outcome } = view;
  if (!batch || outcome.state === 'Completed' || isRolledBack(view)) return '';
  const { size, updated, failed, startedAt, soakUntil } = batch;
  const parts = [
    `${batchPlace(batch)}: ${formatShare(updated, size, 'machine')}`,
    failed > 0 ? `${failed} failed` : '',
    startedAt ? `began ${formatAge(startedAt, now)} ago` : '',
    soakUntil ? soakText(soakUntil, now) : '',
  ];
  return parts.filter(Boolean).join(', ');
}

/** The batch and its checks are past: its machines run the revision before. */
function isRolledBack({ waiting }: RolloutView): boolean {
  return waiting?.reason === ('RolledBack' satisfies Reason);
}

function checksText(view: RolloutView): string {
  if (isRolledBack(view)) return '';
  return view.checks.map(checkText).join(', ');
}

/** Adds the reason of a check that did not pass. */
function checkText({ name, result = 'Pending', value }: CheckResult): string {
  const isExplained = value !== undefined && result !== 'Pass' && result !== 'Pending';
  return isExplained ? `${name} ${result} (${value})` : `${name} ${result}`;
}

/** Counted from 1, as in every text for people: `index` in objects is counted from 0. */
export function batchPlace({ index, of }: BatchView): string {
  return `${index + 1}${of === undefined ? '' : ` of ${of}`}`;
}

function soakText(until: string, now: Date): string {
  const left = Date.parse(until) - now.getTime();
  return left > 0
    ? `soaks ${formatAge(now.toISOString(), new Date(until))} longer, until ${until}`
    : 'soaked';
}

/** Before the first batch only: later the batches themselves are shown. */
function planText({ plan = {}, batch, outcome }: RolloutView): string {
  const { batches, class: of = 'unknown', drains = 0, grants = 0 } = plan;
  if (!batches || batch || outcome.state === 'Completed') return '';
  return `batches ${batches.join(', ')}; class ${of}; ${formatCount(grants, 'grant')}; ${formatCount(drains, 'drain')}`;
}

export const STATES: Readonly<Record<RolloutState, string>> = {
  Running: 'goes on',
  Completed: 'completed',
  NeedsPerson: 'needs a person',
  Failed: 'stopped',
};

function whyText({ set, waiting, outcome }: RolloutView, now: Date): string {
  if (!waiting) return `${STATES[outcome.state]}: ${outcome.because}`;
  const { reason, since, message = '' } = waiting;
  const head = [`${reason} ${formatAge(since, now)}`, message].filter(Boolean).join(': ');
  return `${head}${blockerText(waiting, set)}`;
}

/** Unless the message names it, or it is the set itself. */
function blockerText({ blocker, message = '' }: Wait, set: string): string {
  if (!blocker || blocker.name === set || message.includes(blocker.name)) return '';
  return ` (${blocker.kind} ${blocker.name})`;
}

/** Failing machines first: with few rows, those in work are cut. */
function machineLists(
  { failed, inWork, counts }: RolloutView,
  now: Date,
  columns: number,
  rows = failed.length + inWork.length,
): string {
  const failures = failed
    .slice(0, rows)
    .map(({ name, component, code, message, since }) => [
      name,
      [component, code].filter(Boolean).join(' ') || 'failed',
      formatAge(since, now),
      message ?? '',
    ]);
  const work = inWork
    .slice(0, Math.max(0, rows - failures.length))
    .map(({ name, componentRef, state, since, because }) => [
      name,
      `${componentRef} ${state}`,
      formatAge(since, now),
      because,
    ]);
  return [
    listOf('failing', failures, Math.max(failed.length, counts.failed), columns),
    listOf('in work', work, inWork.length, columns),
  ].join('');
}

function listOf(name: string, rows: readonly (readonly string[])[], total: number, columns: number): string {
  if (total === 0) return '';
  const more = total > rows.length ? `  and ${total - rows.length} more\n` : '';
  if (rows.length === 0) return `\n${formatCount(total, 'machine')} ${name}\n`;
  return `\n${fitTable({ columns: [name, 'state', 'since', 'why'], rows }, columns)}${more}`;
}
