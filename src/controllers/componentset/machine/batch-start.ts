/** When the update of a machine of the open batch began, as far as it is known. Pure. */
import type { ComponentAssignment, Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import { reportOf } from '../../../api/machine/entry-report.ts';
import { parseTime } from '../../../api/machine/node-state.ts';

export interface OpenBatchStart {
  readonly revision: string;
  readonly index: number;
  readonly startedAt: Date;
  /** When the revision was rolled out before: another one replaced it before it completed, and now it comes back. */
  readonly supersededFrom?: Date;
}

/**
 * Undefined for a machine of an earlier batch: its grant was settled, and with it went the time. A machine that has the revision since
 * before it came back was updated then: what it lost since may be due to the revision, and was not there before the update.
 */
export function batchStart(
  machine: Machine,
  entries: readonly MachineComponentEntry[],
  open: OpenBatchStart | undefined,
): Date | undefined {
  if (!open || !isOfBatch(entries[0]?.assignment, open)) return undefined;
  const { startedAt, supersededFrom } = open;
  const committed = committedAt(machine, entries);
  if (!supersededFrom || !committed || committed >= startedAt) return startedAt;
  return committed > supersededFrom ? committed : supersededFrom;
}

export function isOfBatch(
  assignment: ComponentAssignment | undefined,
  { revision, index }: Pick<OpenBatchStart, 'revision' | 'index'>,
): boolean {
  return assignment?.revision === revision && assignment.batch === index;
}

/** When the last of the entries was in force, by the clock of the machine. Undefined: not all are, or its agent reports no time. */
export function committedAt(machine: Machine, entries: readonly MachineComponentEntry[]): Date | undefined {
  const times = entries.map((entry) => {
    const report = reportOf(machine, entry);
    return report?.state === 'Committed' || report?.state === 'Absent' ? parseTime(report.since) : undefined;
  });
  const [last] = times.toSorted((a, b) => Number(b) - Number(a));
  return times.includes(undefined) ? undefined : last;
}
