/** Tells whether clients reach an API server of a control plane, and whether one may be taken away. Pure. */
import { isApiServer, isBalancer, type MemberReport, type PlaneMember } from '../../drivers/driver.ts';
import type { HostingInput, HostingWait } from '../input.ts';
import { wait } from '../wait.ts';

type Input = Pick<HostingInput, 'plane'>;

export function apiServerReports({ plane }: Input): readonly MemberReport[] {
  return plane.members.filter(({ member }) => isApiServer(member));
}

/** Returns the API server that has the port of clients although balancers are to have it. */
export function directReport(input: Input): MemberReport | undefined {
  return apiServerReports(input).find(({ isDirect }) => isDirect === true);
}

function isReady({ state }: MemberReport): boolean {
  return state === 'Ready';
}

/** While one is replaced, the former one serves. */
export function isAnswering(report: MemberReport): boolean {
  return isReady(report) || report.isServed === true;
}

/** Tells whether a client that connects reaches an API server that answers. */
export function isApiServing(input: Input): boolean {
  const balancers = input.plane.members.filter(({ member }) => isBalancer(member));
  const direct = directReport(input);
  if (direct) return isReady(direct);
  return apiServerReports(input).some(isAnswering) && (balancers.length === 0 || balancers.some(isReady));
}

/**
 * Returns why an API server of several may not be taken out of service: another one does not answer, or clients do not reach it, and they need
 * that one. One that does not answer itself may be.
 */
export function serversWait(input: Input, member: PlaneMember): HostingWait | undefined {
  const reports = apiServerReports(input);
  const own = reports.find((report) => report.member === member);
  if (own?.state !== 'Ready') return undefined;
  const down = reports.find((report) => report.member !== member && report.state !== 'Ready');
  if (!down) return unreachedWait(input, member);
  return serverDown(down.member, 'does not answer');
}

/**
 * Returns why clients do not reach an API server that answers: a balancer has not found it ready yet. One that finds none ready tries all, so
 * that it holds nothing: what keeps it from asking may be what the next act repairs.
 */
export function unreachedWait(input: Input, except?: PlaneMember): HostingWait | undefined {
  const servers = apiServerReports(input).map(({ member }) => member);
  const needed = servers.filter((member) => member !== except);
  for (const { member: balancer, reaches } of input.plane.members) {
    if (!reaches || reaches.length === 0) continue;
    const missing = needed.find((member) => !reaches.some((each) => each === member));
    if (missing) return serverDown(missing, `is not ready for clients of ${balancer}`);
  }
  return undefined;
}

function serverDown(member: PlaneMember, why: string): HostingWait {
  const message = `${member} ${why}: no other API server is taken out of service`;
  return wait('ApiServerDown', message, ['Process', member]);
}
