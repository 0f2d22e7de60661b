/** Shows MaintenanceEvents to people: a line for each, or one with its conditions. Pure. */

import { byCode } from '../../kube/objects/digest.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { formatAge } from '../text/age.ts';
import { formatCount } from '../text/counts.ts';
import { fitTable, formatField } from '../text/wrap.ts';
import { type MaintenanceView, sortMaintenance } from './view.ts';

export interface MaintenanceListSize {
  readonly limit: number;
  readonly columns: number;
}

export function formatMaintenance(
  views: readonly MaintenanceView[],
  now: Date,
  { limit, columns }: MaintenanceListSize,
): string {
  if (views.length === 0) return 'no announced maintenance\n';
  const shown = sortMaintenance(views).slice(0, limit);
  const rows = shown.map((view) => [
    view.event,
    view.machine,
    view.hint ? `${view.type} (hint)` : view.type,
    view.state,
    view.phase,
    startText(view.notBefore, now),
    maintenanceWaitText(view, now),
  ]);
  const names = ['event', 'machine', 'type', 'state', 'phase', 'begins', 'why'];
  const more = views.length - shown.length;
  const hidden = more > 0 ? `and ${more} more: --limit ${views.length} lists all\n` : '';
  return `${summary(views)}\n\n${fitTable({ columns: names, rows }, columns)}${hidden}`;
}

function summary(views: readonly MaintenanceView[]): string {
  const counts = [...Map.groupBy(views, ({ phase }) => phase)].toSorted(([a], [b]) => byCode(a, b));
  const parts = counts.map(([phase, own]) => `${own.length} ${phase}`);
  return `${formatCount(views.length, 'event')}: ${parts.join(', ')}`;
}

/** `in 45m`, or how long ago. */
function startText(notBefore: string | undefined, now: Date): string {
  if (notBefore === undefined) return 'any time';
  if (new Date(notBefore) <= now) return `${formatAge(notBefore, now)} ago`;
  return `in ${formatAge(now.toISOString(), new Date(notBefore))}`;
}

export function maintenanceWaitText({ waiting }: MaintenanceView, now: Date): string {
  if (!waiting) return '';
  const { reason, since, message } = waiting;
  return [`${reason} ${formatAge(since, now)}`, message].filter(Boolean).join(': ');
}

export function formatMaintenanceEvent(view: MaintenanceView, now: Date, columns: number): string {
  const field = (name: string, text: string): string => formatField(name, text, columns);
  const fields = [
    field('announces', `${view.type} of machine ${view.machine}, ${view.state}`),
    field('reported', reportText(view, now)),
    field('begins', timeText(view.notBefore, now)),
    field('deadline', timeText(view.deadline, now)),
    field('prepares', timeText(view.actAt, now)),
    field('job', view.job ?? ''),
    field('waits', maintenanceWaitText(view, now)),
    field('unblocks', view.unblock),
    field('details', view.details),
  ].join('');
  const rows = view.conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  const table = fitTable({ columns: ['condition', 'status', 'reason', ''], rows }, columns);
  return `${printableLine(`${view.event}   ${view.phase}`)}\n${fields}${rows.length > 0 ? `\n${table}` : ''}`;
}

function reportText({ provider, eventID, created, reports, hint }: MaintenanceView, now: Date): string {
  const age = created === undefined ? '' : `, ${formatAge(created, now)} ago`;
  const changes = reports > 1 ? `, changed ${formatCount(reports - 1, 'time')}` : '';
  const until = hint ? `, a hint for ${hint.ttlSeconds ?? '?'} s` : '';
  return `by provider ${provider} as ${eventID}${age}${changes}${until}`;
}

function timeText(time: string | undefined, now: Date): string {
  return time === undefined ? '' : `${time} (${startText(time, now)})`;
}
