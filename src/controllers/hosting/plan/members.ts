/** Plans the next step for the members of a control plane: which is started, and which is stopped because it does not answer. Pure. */
import {
  isApiServer,
  isBalancer,
  isEtcdMember,
  isGateway,
  type MemberReport,
  type PlaneMember,
} from '../drivers/driver.ts';
import { directReport, isApiServing, serversWait } from './api-servers/serving.ts';
import { planMembership } from './etcd/membership.ts';
import { isEtcdServing, joinWait, learningWait, quorumWait, replacementWait } from './etcd/quorum.ts';
import { needsGrant } from './grants.ts';
import type { HostingAct, HostingDecision, HostingInput, HostingWait } from './input.ts';
import { logPlace } from './names.ts';

/** A member that dies so often within this time is not started again until a start is older. */
const MAX_STARTS = 3;
const WINDOW_MS = 300_000;
/** A busy machine needs half a minute. */
const ANSWER_MS = 180_000;
const MAX_LOG = 600;
/** The length of the last line of a log in a message: it tells why a program ends. */
const MAX_REASON = 140;

/** Tells whether what must answer before the member is started does so. Our own controllers need our kinds, too. */
export function hasItsNeeds(input: Pick<HostingInput, 'plane'>, member: PlaneMember): boolean {
  if (isEtcdMember(member)) return true;
  if (isApiServer(member)) return isEtcdServing(input);
  if (isBalancer(member)) return directReport(input) === undefined;
  return isApiServing(input);
}

/**
 * Returns the first unmet step, in the order of dependencies. Undefined: every member runs and answers, or waits for one that starts. A member
 * that waits, also for a grant, keeps no other one from its start: etcd serves without one of three.
 */
export function planMembers(input: HostingInput): HostingDecision | undefined {
  const decisions = innerReports(input)
    .filter(({ member }) => hasItsNeeds(input, member))
    .map((report) => planMember(report, input))
    .filter((decision) => decision !== undefined);
  return (
    decisions.find(({ act }) => act && !needsGrant(act)) ??
    decisions.find(({ act }) => act) ??
    decisions.find(({ wait }) => wait)
  );
}

/** Returns the members but gateways, which no other member needs, and which have no part in a change. */
export function innerReports({ plane }: Pick<HostingInput, 'plane'>): readonly MemberReport[] {
  return plane.members.filter(({ member }) => !isGateway(member));
}

/** Plans the start of a member that has ended, and nothing else. */
export function planStart(input: HostingInput): HostingDecision | undefined {
  const decision = planMembers(input);
  return decision?.act?.type === 'Start' ? decision : undefined;
}

export function planMember(report: MemberReport, input: HostingInput): HostingDecision | undefined {
  const membership = planMembership(report, input);
  if (membership) return guarded(input, membership);
  if (report.state === 'Ready') return undefined;
  return report.state === 'Starting' ? planStarting(report, input) : planStopped(report, input);
}

/** Both take a member away from an etcd that may need it. One that never joined is needed by none, nor are those that are added after it. */
function guarded(input: HostingInput, decision: HostingDecision): HostingDecision {
  const { act } = decision;
  if (act?.type !== 'Stop' && act?.type !== 'RemoveEtcdMember') return decision;
  const hasJoined = !hasNotJoined(input, act.member);
  const atRisk = hasJoined ? replacementWait(input, act.member) : joinWait(input, act.member);
  return atRisk ? { wait: atRisk } : disruptive(input, act);
}

function hasNotJoined({ plane: { etcd } }: HostingInput, member: PlaneMember): boolean {
  return etcd !== undefined && !etcd.some((each) => each.member === member && each.isStarted);
}

function planStarting(
  { member, unreadySince, problem, isServed }: MemberReport,
  input: HostingInput,
): HostingDecision | undefined {
  // A stop would end the former one, too, which serves meanwhile. Where the hub restarts members, a stop would keep it from moving one off a
  // node that fails: the pod of such a node does not end, so that the stop would not, either.
  if (problem || isServed || input.isRestartedByHub === true) return undefined;
  const silentMs = unreadySince ? +input.now - +unreadySince : 0;
  if (silentMs < ANSWER_MS) return undefined;
  const because = `it has not answered for ${Math.round(silentMs / 1000)} s`;
  return disruptMember(input, { type: 'Stop', member, because });
}

function planStopped(report: MemberReport, input: HostingInput): HostingDecision | undefined {
  const { member, starts } = report;
  if (member === 'kubenode-controllers' && input.inside?.isInstalled !== true) return undefined;
  if (endedTooOften(report, input.now)) return { wait: crashed(report, input) };
  return { act: { type: 'Start', member, because: starts.length === 0 ? 'it is not running' : 'it ended' } };
}

/** An act that takes something away waits while a person halts everything. */
export function disruptive(
  { halt }: Pick<HostingInput, 'halt'>,
  act: HostingDecision['act'] & object,
): HostingDecision {
  if (halt === undefined) return { act };
  const blocker = { kind: 'DefenderPolicy', name: 'kill-switch' };
  const message = `kill switch engaged by ${halt}: end it with kubenode defender resume`;
  return { wait: { reason: 'KillSwitch', message, blocker, isStalled: false } };
}

/** An act on a member of etcd waits while another one is down, unknown or learning; one on an API server, while another one does not answer. */
export function disruptMember(
  input: HostingInput,
  act: Extract<HostingAct, { readonly member: PlaneMember }>,
): HostingDecision {
  const atRisk = quorumWait(input, act.member) ?? serversWait(input, act.member);
  return atRisk ? { wait: atRisk } : disruptive(input, act);
}

export function endedTooOften({ starts }: MemberReport, now: Date): boolean {
  return starts.filter((at) => +now - +at < WINDOW_MS).length >= MAX_STARTS;
}

/** Returns why a member has failed that was started as often as is tried. */
export function crashReason(report: MemberReport | undefined, now: Date): string | undefined {
  if (report?.state !== 'Stopped' || !endedTooOften(report, now)) return undefined;
  return `${report.member} ended ${MAX_STARTS} times within 5 minutes: ${lastLine(report)}`;
}

/** Returns why a member has failed that the hub starts again each time it ends. */
export function crashingReason(report: MemberReport | undefined): string | undefined {
  const ends = report?.problem?.ends ?? 0;
  if (!report || ends < MAX_STARTS) return undefined;
  return `${report.member} ended ${ends} times: ${lastLine(report)}`;
}

function lastLine({ logTail = '' }: MemberReport): string {
  const line = logTail.trim().split('\n').at(-1) ?? '';
  return line.replace(/^\s*\|\s*/, '').slice(-MAX_REASON);
}

function crashed({ member, logTail = '' }: MemberReport, { plane }: HostingInput): HostingWait {
  const log = logTail.trim().slice(-MAX_LOG);
  return {
    reason: 'MemberCrashes',
    message: `${member} ended ${MAX_STARTS} times within 5 minutes; it is tried again. Read its log ${logPlace(plane, member)}; its end:\n${log}`,
    blocker: { kind: 'Process', name: member },
    isStalled: true,
  };
}

export function memberReport(
  { plane }: Pick<HostingInput, 'plane'>,
  member: PlaneMember,
): MemberReport | undefined {
  return plane.members.find((each) => each.member === member);
}

/** Returns what a control plane waits for whose members were all started. */
export function waitForMembers(input: Pick<HostingInput, 'plane'>): HostingWait | undefined {
  const starting = innerReports(input).find(({ state }) => state !== 'Ready');
  return starting ? memberWait(starting) : learningWait(input);
}

export function memberWait({ member, problem }: MemberReport): HostingWait {
  if (problem) return { ...problem, isStalled: true };
  return {
    reason: 'MemberStarting',
    message: `${member} does not answer yet`,
    blocker: { kind: 'Process', name: member },
    isStalled: false,
  };
}
