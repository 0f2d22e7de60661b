/** The revisions that a set had, newest first. Pure. */
import type { MachineComponentSet } from '../../api/generated/types.ts';
import { formatAge } from '../text/age.ts';
import { fitTable } from '../text/wrap.ts';

export function formatHistory({ status }: MachineComponentSet, now: Date, columns: number): string {
  const records = status?.history ?? [];
  if (records.length === 0) return '';
  const rows = records.map(({ revision = '-', result = 'in work', finishedAt, components = [] }) => [
    components.join(', '),
    result === 'RolledBack' && finishedAt === undefined ? 'RollingBack' : result,
    formatAge(finishedAt, now),
    revision,
  ]);
  return `\n${fitTable({ columns: ['components', 'result', 'ended', 'revision'], rows }, columns)}`;
}
