/** Counts how many machines of a set wait for the same reason, with the first of them. Pure. */

import { formatCount } from '../../../views/text/counts.ts';
import { fitTable, formatField } from '../../../views/text/wrap.ts';
import type { AssignmentReason } from '../../fleet/why/assignments.ts';

export interface MachineReason extends AssignmentReason {
  readonly machine: string;
}

export interface ReasonCount {
  readonly reason: string;
  readonly machines: number;
  /** The names of the first machines. */
  readonly names: readonly string[];
  /** The explanation for the first machine; `unblock` is its hint. */
  readonly because: string;
  readonly unblock: string;
}

const MAX_NAMES = 5;

/** Counts the machines by reason, the commonest first. */
export function countReasons(found: readonly MachineReason[]): readonly ReasonCount[] {
  return [...Map.groupBy(found, ({ reason }) => reason)]
    .map(([reason, own]) => ({
      reason,
      machines: own.length,
      names: own.slice(0, MAX_NAMES).map(({ machine }) => machine),
      because: own[0]?.because ?? '',
      unblock: own[0]?.unblock ?? '',
    }))
    .toSorted((a, b) => b.machines - a.machines);
}

export function formatReasons(counts: readonly ReasonCount[], columns: number): string {
  const rows = counts.map(({ reason, machines, names, because }) => [
    String(machines),
    reason,
    machines === 1 ? because : `${because} (${nameList(names, machines)})`,
  ]);
  const table = fitTable(
    { columns: ['machines', 'reason', 'why'], rows, empty: 'no machine is selected' },
    columns,
  );
  const hints = counts.filter(({ unblock }) => unblock !== '');
  const unblocks = hints.map(({ reason, unblock }) =>
    formatField('unblocks', `${reason}: ${unblock}`, columns),
  );
  return `\n${table}${unblocks.length > 0 ? `\n${unblocks.join('')}` : ''}`;
}

function nameList(names: readonly string[], total: number): string {
  const more = total - names.length;
  return more > 0 ? `${names.join(', ')} and ${formatCount(more, 'other')}` : names.join(', ');
}
