/** Shows the components of a machine and its conditions that need attention. Pure. */
import type { Machine, MachineComponentEntry, MachineComponentReport } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { ComponentRow, ConditionRow } from './detail.ts';
import { isBad } from './trouble.ts';

export function componentRows({ spec, status }: Machine): readonly ComponentRow[] {
  const reports = new Map(status?.components?.map((report) => [report.name, report]));
  return spec.components.map((entry) => componentRow(entry, reports.get(entry.name)));
}

function componentRow(
  { name, componentRef, state, assignment, digest }: MachineComponentEntry,
  report: MachineComponentReport | undefined,
): ComponentRow {
  const versionOf = (ref: string | undefined): string => ref?.slice(name.length + 1) || '-';
  const by = assignment?.set === undefined ? 'pinned' : assignment.set;
  return {
    name,
    desired: state === 'Absent' ? 'Absent' : versionOf(componentRef),
    runs: versionOf(report?.currentRef),
    digest: report?.digest ?? digest,
    state: report?.state ?? 'NotReported',
    ...optional('since', report?.since),
    because: [reportReason(report), `by ${by}`].filter(Boolean).join('; '),
  };
}

function reportReason(report: MachineComponentReport | undefined): string {
  const { error, waiting } = report ?? {};
  return [error?.message, waiting?.message ?? waiting?.reason].filter(Boolean).join('; ');
}

export function badConditionRows({ status }: Machine): readonly ConditionRow[] {
  return (status?.conditions ?? [])
    .filter(isBad)
    .map(({ type, status: value, reason, lastTransitionTime, message }) => ({
      condition: `${type}=${value}`,
      reason,
      ...optional('since', lastTransitionTime),
      message: message ?? '',
    }));
}
