/** Plans how a control plane gets the number of API servers that its spec wants: one at a time, while nothing else is changed. Pure. */
import { isApiServer, isBalancer, type MemberReport, type PlaneMember } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput, HostingWait } from '../input.ts';
import { disruptive, disruptMember, innerReports, waitForMembers } from '../members.ts';
import { hostingProblems } from '../problems.ts';
import { programsMissing } from '../programs.ts';
import { rotationInWork } from '../rotation/state.ts';
import { wait, withHint } from '../wait.ts';
import { apiServerReports, directReport, isAnswering } from './serving.ts';

/** Returns what differs: `replicas is 1, not 2`. Undefined: nothing. */
export function countDifference(input: Pick<HostingInput, 'plane' | 'hosted'>): string | undefined {
  const { length } = apiServerReports(input);
  const { isPrepared } = input.plane;
  const { replicas } = input.hosted;
  return length === replicas || !isPrepared ? undefined : `replicas is ${length}, not ${replicas}`;
}

/** Plans the next step of a change of the number. `isClosed`: a window or a freeze holds its begin. */
export function planApiServers(input: HostingInput, isClosed: boolean): HostingDecision | undefined {
  const { cluster, hosted } = input;
  if (cluster.status?.hosted?.upgrade !== undefined) return undefined;
  const difference = countDifference(input);
  if (difference === undefined) return planMove(input);
  if (isClosed || isCountHeld(input) || hostingProblems(cluster, hosted).length > 0) return undefined;
  return planCount(input, `the spec differs: ${difference}`);
}

/**
 * A rotation of the authorities counts the API servers that were started again in its phase, so that the number is changed after it. One that
 * does not answer is taken away meanwhile: every other restart, also that of a return, waits for it.
 */
function isCountHeld(input: HostingInput): boolean {
  return rotationInWork(input) !== undefined && !isLastSurplusSilent(input);
}

function isLastSurplusSilent(input: HostingInput): boolean {
  const last = apiServerReports(input).at(-1);
  return last !== undefined && surplusServers(input).includes(last.member) && !isAnswering(last);
}

function planCount(input: HostingInput, because: string): HostingDecision | undefined {
  const { replicas: count } = input.hosted;
  if (apiServerReports(input).length > count) return planRemoval(input, because);
  return waitForMembers(input) || countHeld(input)
    ? undefined
    : { act: { type: 'SetApiServers', count, because } };
}

/**
 * Returns why no API server is added: hosting has not the programs of the version that a new one is started with. It holds neither the start of
 * others up nor an upgrade to a version that hosting has.
 */
export function countHeld(input: HostingInput): HostingWait | undefined {
  const { cluster, plane, hosted } = input;
  const isGrowing = plane.isPrepared && apiServerReports(input).length < hosted.replicas;
  if (!isGrowing || cluster.status?.hosted?.upgrade !== undefined) return undefined;
  return programsMissing(input, (plane.settled ?? hosted).version)?.wait;
}

/** Returns why the number stays as it is while a rotation is in work, which may wait for its clients, or for a person. */
export function countInRotation(input: HostingInput): HostingWait | undefined {
  const rotation = rotationInWork(input);
  const difference = countDifference(input);
  if (!rotation || difference === undefined || isLastSurplusSilent(input)) return undefined;
  const message = `${difference}: the number of API servers is changed when the rotation ${rotation.id} of the authorities is over`;
  const hint = 'complete it, or remove spec.hosted.pki.caRotation to take it back';
  return wait('RotationInWork', withHint(message, hint), ['Cluster', input.cluster.metadata.name]);
}

/** The last one goes first, and is not counted any more before it would be started again. */
function planRemoval(input: HostingInput, because: string): HostingDecision | undefined {
  const reports = apiServerReports(input);
  const last = reports.at(-1);
  if (!last) return undefined;
  if (last.state === 'Stopped') return { act: { type: 'SetApiServers', count: reports.length - 1, because } };
  return isNeeded(input, last)
    ? undefined
    : disruptive(input, { type: 'Stop', member: last.member, because });
}

/**
 * Tells whether an API server serves until all members that stay answer. Others that are not to be counted may never have answered. One that
 * does not answer itself is needed as long as none that stays does: it may be the first one that works.
 */
function isNeeded(input: HostingInput, last: MemberReport): boolean {
  const removed = surplusServers(input);
  const staying = innerReports(input).filter(({ member }) => !removed.includes(member));
  if (isAnswering(last)) return staying.some(({ state }) => state !== 'Ready');
  return !staying.some(({ member, state }) => isApiServer(member) && state === 'Ready');
}

/** Returns the API servers that the control plane has and its spec does not count. */
export function surplusServers(input: Pick<HostingInput, 'plane' | 'hosted'>): readonly PlaneMember[] {
  return apiServerReports(input)
    .slice(input.hosted.replicas)
    .map(({ member }) => member);
}

/** The one that has the port of clients leaves it to the balancers as soon as another one answers. */
function planMove(input: HostingInput): HostingDecision | undefined {
  const direct = directReport(input);
  const hasOthers = apiServerReports(input).length > 1;
  const isReady = innerReports(input).every(({ member, state }) => isBalancer(member) || state === 'Ready');
  if (!direct || !hasOthers || !isReady) return undefined;
  const because = 'the balancers before several API servers need its port';
  return disruptMember(input, { type: 'Stop', member: direct.member, because });
}
