/** Shows what others changed in a cluster and sync wrote back: which fields, who, when and how often. Pure. */
import type { CorrectedDrift, CorrectedObject } from '../../../api/generated/types.ts';
import { formatAge, shortCommit } from '../../text/age.ts';
import { formatCount } from '../../text/counts.ts';
import { listNames } from '../../text/list-names.ts';

/** After more corrections of one object than this, another program probably goes on changing it. */
const ACCIDENTS = 2;

export function driftTitle({ total = 0, objects = [] }: CorrectedDrift): string {
  const listed = objects.reduce((sum, { count = 1 }) => sum + count, 0);
  return total > listed
    ? `drift corrected (the last ${formatCount(objects.length, 'object')} of ${formatCount(total, 'correction')})`
    : 'drift corrected';
}

/** The first line, and those below it. */
export function driftLines(row: CorrectedObject, now: Date): readonly [string, ...string[]] {
  const { object, unit, change, count = 1, since, correctedAt, commit } = row;
  const what = change === 'Deleted' ? 'deleted, created again' : 'changed, written back';
  const ago = `${formatAge(correctedAt, now)} ago`;
  const repeated = count > 1 ? `, ${count} times in ${formatAge(since, new Date(correctedAt))}` : '';
  const from = unit === undefined ? '' : `, unit ${unit}`;
  return [
    `${object}: ${what} ${ago}${repeated}`,
    causeOf(row, now),
    `as in commit ${shortCommit(commit)}${from}`,
    ...hintOf(row),
  ];
}

function causeOf({ change, fields = [], managers = [], changedAt }: CorrectedObject, now: Date): string {
  if (change === 'Deleted') return 'the server does not record who deleted it';
  const by = managers.length > 0 ? `by ${listNames(managers)}` : 'the server does not record by whom';
  const when = changedAt === undefined ? '' : ` ${formatAge(changedAt, now)} ago`;
  return `${fields.join(', ')}: ${by}${when}`;
}

function hintOf({ change, count = 1, managers = [] }: CorrectedObject): readonly string[] {
  if (count <= ACCIDENTS) return [];
  const who = managers.length > 0 ? listNames(managers) : 'the program that does it';
  return change === 'Deleted'
    ? ['if it goes on: find who deletes it in the audit log of the API server']
    : [`if it goes on: stop ${who}, or remove these fields from git`];
}
