/**
 * Plans how a member joins an etcd that has several, and how one that has lost its data is replaced. Pure. The list of members in etcd itself
 * is the only record of it, so that a step that was interrupted is found and continued.
 */
import { type EtcdMember, isEtcdMember, type MemberReport } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { isNamespace, removalOf } from '../names.ts';
import { wait, withHint } from '../wait.ts';
import { etcdReports, joinWait } from './quorum.ts';

/** Etcd accepts another member when all others have been connected for 5 s. */
const CONNECTED_MS = 6000;

/** Undefined: the member is started and stopped as any other. */
export function planMembership(report: MemberReport, input: HostingInput): HostingDecision | undefined {
  const { member, data } = report;
  if (!isEtcdMember(member) || etcdReports(input).length === 1) return undefined;
  return data === 'Empty' ? planWithoutData(report, member, input) : planWithData(report, member, input);
}

function planWithData(
  { state }: MemberReport,
  member: EtcdMember,
  { plane }: HostingInput,
): HostingDecision | undefined {
  if (!plane.etcd) return undefined;
  const listed = plane.etcd.find((each) => each.member === member);
  if (listed?.isLearner === true && state === 'Ready') {
    return {
      act: { type: 'PromoteEtcdMember', member, because: 'it answers, and has to count for the majority' },
    };
  }
  return listed ? undefined : { wait: removedWait(member, plane) };
}

/** etcd never takes back a member with data that is older than its removal. A person may have put the data there, so it stays. */
function removedWait(member: EtcdMember, plane: HostingInput['plane']): NonNullable<HostingDecision['wait']> {
  const message = `${member} was removed from etcd, and its ${isNamespace(plane) ? 'volume' : 'folder'} has data`;
  const hint = `${removalOf(plane, member)}: hosting adds it again, and it gets its data from the others`;
  return wait('EtcdMemberRemoved', withHint(message, hint), ['Process', member], 'stalled');
}

function planWithoutData(
  report: MemberReport,
  member: EtcdMember,
  input: HostingInput,
): HostingDecision | undefined {
  const because = 'its data was lost: it gets the data of the others';
  if (runsInVain(report, input)) return { act: { type: 'Stop', member, because } };
  if (report.state === 'Starting') return undefined;
  return planReturnOf(member, because, input);
}

/**
 * It writes to files that were deleted, or was a member, and does not start without its data. A pod that was started has a claim, or waits for
 * one that only a new member gets.
 */
function runsInVain({ member, state }: MemberReport, { plane }: HostingInput): boolean {
  const wasMember = plane.etcd?.some((each) => each.member === member && each.isStarted) === true;
  return state === 'Ready' || (state === 'Starting' && (wasMember || isNamespace(plane)));
}

function planReturnOf(member: EtcdMember, because: string, input: HostingInput): HostingDecision | undefined {
  const hasBegun = etcdReports(input).some(({ data }) => data !== 'Empty');
  if (!hasBegun) return member === 'etcd' ? undefined : {};
  const { etcd } = input.plane;
  if (!etcd) return { wait: unknownWait(member) };
  const listed = etcd.find((each) => each.member === member);
  if (!listed) return planAdd(member, input);
  const isUsed = listed.isStarted || hadItsClaim(member, input);
  return isUsed ? { act: { type: 'RemoveEtcdMember', member, because } } : undefined;
}

/** Its pod was started with a claim that is missing now: added again, it gets another one. */
function hadItsClaim(member: EtcdMember, input: HostingInput): boolean {
  const report = etcdReports(input).find((each) => each.member === member);
  return isNamespace(input.plane) && report !== undefined && report.starts.length > 0;
}

function unknownWait(member: EtcdMember): NonNullable<HostingDecision['wait']> {
  const message = `no majority of etcd answers, from which ${member} could get its data`;
  return wait('QuorumAtRisk', message, ['Process', member]);
}

function planAdd(member: EtcdMember, input: HostingInput): HostingDecision {
  const blocked = joinWait(input, member) ?? connectingWait(member, input);
  if (blocked) return { wait: blocked };
  return { act: { type: 'AddEtcdMember', member, because: 'it is not a member of etcd yet' } };
}

function connectingWait(member: EtcdMember, input: HostingInput): HostingDecision['wait'] {
  const { now } = input;
  const starts = etcdReports(input).map(({ starts: times }) => +(times.at(-1) ?? 0));
  const last = Math.max(...starts.filter((startMs) => startMs <= +now));
  if (+now - last >= CONNECTED_MS) return undefined;
  const message = `${member} joins when the other members of etcd have been connected for some seconds`;
  return wait('EtcdMemberJoining', message, ['Process', member]);
}
