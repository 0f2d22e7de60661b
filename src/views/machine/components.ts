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
  const by = assignment?.set ?? 'pinned';
  return {
    name,
    desired: state === 'Absent' ? 'Absent' : versionOf(name, componentRef),
    runs: versionOf(name, report?.currentRef),
    ...reportedState(report, digest),
    because: [reportReason(report), `by ${by}`].filter(Boolean).join('; '),
  };
}

function reportedState(
  report: MachineComponentReport | undefined,
  desiredDigest: string,
): Pick<ComponentRow, 'digest' | 'state' | 'since'> {
  const { digest = desiredDigest, state = 'NotReported', since } = report ?? {};
  return { digest, state, ...optional('since', since) };
}

function versionOf(name: string, ref: string | undefined): string {
  return ref?.slice(name.length + 1) || '-';
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
