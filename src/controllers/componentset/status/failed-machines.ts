/** Finds the machines that failed, and the commonest error. Pure. */
import type { FailedMachine, MachineComponentReport } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { MemberState } from '../machine/member-state.ts';
import { nameList } from '../machine/name-list.ts';
import { hasFailed } from './counts.ts';
import type { SetReport } from './report.ts';

/** How many failed machines the status holds, and how many are named. */
export const MAX_FAILED_MACHINES = 20;
const MAX_MESSAGE = 256;
const MAX_CODE = 64;

/**
 * Returns all failed machines, by name: which error is the commonest is known of all only. After a rollback the machines are
 * well again: why it happened stays until the revision is another one, for those that the status holds.
 */
export function failedMachines({ input, plan }: SetReport): readonly FailedMachine[] {
  const before = input.set.status;
  const isSameRollout = before?.updateRevision === plan.progress.updateRevision;
  const isKept = isSameRollout && (plan.mode === 'RollingBack' || plan.mode === 'Refused');
  const known = new Map(before?.failedMachines?.map((each) => [each.name, each]));
  const failed = input.members
    .filter(hasFailed)
    .map((member) => failedMachine(member, known.get(member.name), input.now));
  const names = new Set(failed.map(({ name }) => name));
  const kept = isKept ? [...known.values()].filter(({ name }) => !names.has(name)) : [];
  return [...failed, ...kept].toSorted((a, b) => byCode(a.name, b.name));
}

function failedMachine(member: MemberState, before: FailedMachine | undefined, now: Date): FailedMachine {
  const report = failedReport(member);
  const code = truncate(report?.error?.code ?? member.reason, MAX_CODE);
  const isSame = before?.code === code;
  return {
    name: member.name,
    ...optional('component', report?.name),
    code,
    message: truncate(member.because, MAX_MESSAGE),
    since: (isSame ? before.since : undefined) ?? now.toISOString(),
  };
}

/** Returns the report of the component that the explanation is about. */
function failedReport({ machine, because }: MemberState): MachineComponentReport | undefined {
  return machine.status?.components?.find(
    ({ state, name }) => (state === 'Failed' || state === 'RolledBack') && because.startsWith(`${name}: `),
  );
}

/** `RolledBack on 5 of 7: kubelet: probes fail; m-1, m-2, …` */
export function describeFailures(machines: readonly FailedMachine[]): string {
  const groups = [...Map.groupBy(machines, ({ code = '' }) => code).values()];
  const [commonest = []] = groups.toSorted((a, b) => b.length - a.length);
  const [first] = commonest;
  if (!first) return '';
  const list = nameList(machines, MAX_FAILED_MACHINES);
  return `${first.code} on ${commonest.length} of ${machines.length}: ${first.message}; machines: ${list}`;
}
