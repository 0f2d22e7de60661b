/** The revisions that a set had, newest first. Pure. */
import type { MachineComponentSet } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { formatAge } from '../text/age.ts';
import { fitTable } from '../text/wrap.ts';

export interface RevisionRow {
  readonly components: string;
  readonly result: string;
  /** Absent: it has not ended. */
  readonly ended?: string;
  readonly revision: string;
}

export function revisionRows({ status }: MachineComponentSet): readonly RevisionRow[] {
  return (status?.history ?? []).map(
    ({ revision = '-', result = 'in work', finishedAt, components = [] }) => ({
      components: components.join(', '),
      result: result === 'RolledBack' && finishedAt === undefined ? 'RollingBack' : result,
      ...optional('ended', finishedAt),
      revision,
    }),
  );
}

export function formatHistory(set: MachineComponentSet, now: Date, columns: number): string {
  const rows = revisionRows(set).map(({ components, result, ended, revision }) => [
    components,
    result,
    formatAge(ended, now),
    revision,
  ]);
  if (rows.length === 0) return '';
  return `\n${fitTable({ columns: ['components', 'result', 'ended', 'revision'], rows }, columns)}`;
}
