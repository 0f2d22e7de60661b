/** Plans how a control plane gets the number of API servers that its spec wants: one at a time, while nothing else is changed. Pure. */
import { isBalancer } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { disruptMember, waitForMembers } from '../members.ts';
import { hostingProblems } from '../problems.ts';
import { apiServerReports, directReport } from './serving.ts';

/** Returns what differs: `replicas is 1, not 2`. Undefined: nothing. */
export function countDifference(input: Pick<HostingInput, 'plane' | 'hosted'>): string | undefined {
  const { length } = apiServerReports(input);
  const { isPrepared } = input.plane;
  const { replicas } = input.hosted;
  return length === replicas || !isPrepared ? undefined : `replicas is ${length}, not ${replicas}`;
}

/** Plans the next step of a change of the number. `isHeld`: none may begin now. */
export function planApiServers(input: HostingInput, isHeld: boolean): HostingDecision | undefined {
  const { cluster, hosted } = input;
  if (cluster.status?.hosted?.upgrade !== undefined) return undefined;
  const difference = countDifference(input);
  if (difference === undefined) return planMove(input);
  if (isHeld || hostingProblems(cluster, hosted).length > 0) return undefined;
  return planCount(input, `the spec differs: ${difference}`);
}

function planCount(input: HostingInput, because: string): HostingDecision | undefined {
  const { replicas: count } = input.hosted;
  if (apiServerReports(input).length > count) return planRemoval(input, because);
  return waitForMembers(input) ? undefined : { act: { type: 'SetApiServers', count, because } };
}

/** The last one goes first, and is not counted any more before it would be started again. It may be one that never answered. */
function planRemoval(input: HostingInput, because: string): HostingDecision | undefined {
  const reports = apiServerReports(input);
  const last = reports.at(-1);
  if (!last) return undefined;
  if (last.state === 'Stopped') return { act: { type: 'SetApiServers', count: reports.length - 1, because } };
  if (input.plane.members.some((report) => report !== last && report.state !== 'Ready')) return undefined;
  return disruptMember(input, { type: 'Stop', member: last.member, because });
}

/** The one that has the port of clients leaves it to the balancers as soon as another one answers. */
function planMove(input: HostingInput): HostingDecision | undefined {
  const direct = directReport(input);
  const hasOthers = apiServerReports(input).length > 1;
  const isReady = input.plane.members.every(({ member, state }) => isBalancer(member) || state === 'Ready');
  if (!direct || !hasOthers || !isReady) return undefined;
  const because = 'the balancers before several API servers need its port';
  return disruptMember(input, { type: 'Stop', member: direct.member, because });
}
