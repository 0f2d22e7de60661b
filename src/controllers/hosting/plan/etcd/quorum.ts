/** Decides whether the etcd of a control plane keeps its majority when one of its members is taken out of service. Pure. */
import { isEtcdMember, type MemberReport, type PlaneMember } from '../../drivers/driver.ts';
import type { HostingInput, HostingWait } from '../input.ts';
import { clientPlace } from '../names.ts';
import { wait, withHint } from '../wait.ts';

type Input = Pick<HostingInput, 'plane'>;

export function etcdReports({ plane }: Input): readonly MemberReport[] {
  return plane.members.filter(({ member }) => isEtcdMember(member));
}

export function majorityOf(members: number): number {
  return Math.floor(members / 2) + 1;
}

/** Tells whether a majority of the members answers, so that etcd reads and writes. */
export function isEtcdServing(input: Input): boolean {
  const reports = etcdReports(input);
  const ready = reports.filter(({ state }) => state === 'Ready').length;
  return reports.length > 0 && ready >= majorityOf(reports.length);
}

/**
 * Returns why a member may not be taken out of service: another one is down, unknown or learning, and two at once may be the majority. A
 * single member has no majority to lose: each of its restarts is an outage, as that of the only API server is.
 */
export function quorumWait(input: Input, member: PlaneMember): HostingWait | undefined {
  const reports = etcdReports(input);
  if (!isEtcdMember(member) || reports.length === 1) return undefined;
  return firstReason(
    input,
    reports.filter((report) => report.member !== member),
  );
}

/**
 * Returns why a member without data may not be taken away: one that has its data does not answer, or those are not a majority. Others without data
 * hold nothing up: of five members, two would wait for each other.
 */
export function replacementWait(input: Input, member: PlaneMember): HostingWait | undefined {
  const keeping = etcdReports(input).filter((report) => report.member !== member && report.data !== 'Empty');
  const found = firstReason(input, keeping);
  const listed = input.plane.etcd?.length ?? 0;
  if (found || keeping.length >= majorityOf(listed)) return found;
  return atRisk(`${keeping.length} of ${listed} members of etcd have their data and answer`, member);
}

/** Returns why no member may be added: one that is in the etcd already does not answer. Those that were not added yet do not count. */
export function joinWait(input: Input, member: PlaneMember): HostingWait | undefined {
  const isJoined = (report: MemberReport): boolean =>
    report.data !== 'Empty' || input.plane.etcd?.some((each) => each.member === report.member) === true;
  return firstReason(
    input,
    etcdReports(input).filter((report) => report.member !== member && isJoined(report)),
  );
}

/** Returns what an etcd with several members waits for although each answers: one does not count for the majority yet. */
export function learningWait(input: Input): HostingWait | undefined {
  const reports = etcdReports(input);
  return reports.length > 1 ? firstReason(input, reports) : undefined;
}

function firstReason(input: Input, reports: readonly MemberReport[]): HostingWait | undefined {
  const { etcd } = input.plane;
  if (!etcd) return atRisk('the majority of etcd does not list its members', 'etcd');
  if (etcd.some(({ member }) => member === undefined)) return foreignWait(input);
  const found = reports.map((report) => [report.member, memberReason(input, report)] as const);
  const [name, reason] = found.find((each) => each[1] !== undefined) ?? [];
  return name === undefined || reason === undefined ? undefined : atRisk(`${name} ${reason}`, name);
}

function memberReason({ plane }: Input, { member, state, data }: MemberReport): string | undefined {
  if (state !== 'Ready') return 'does not answer';
  if (data !== 'Own') return 'has lost its data';
  const listed = plane.etcd?.find((each) => each.member === member);
  if (!listed) return 'is not a member of etcd yet';
  return listed.isLearner ? 'still gets its data from the others' : undefined;
}

function atRisk(message: string, name: string): HostingWait {
  return wait('QuorumAtRisk', `${message}: no other member of etcd is touched`, ['Process', name]);
}

function foreignWait({ plane }: Input): HostingWait {
  const message = 'etcd lists a member that does not belong to this control plane';
  const hint = `remove it with etcdctl member remove and ${clientPlace(plane)}`;
  return wait('EtcdMemberNotOurs', withHint(message, hint), ['Process', 'etcd'], 'stalled');
}
