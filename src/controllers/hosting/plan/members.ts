/** Plans the next step for the members of a control plane: which is started, and which is stopped because it does not answer. Pure. */
import { MEMBERS, type MemberReport, type PlaneMember } from '../drivers/driver.ts';
import type { HostingDecision, HostingInput, HostingWait } from './input.ts';

/** A member that dies so often within this time is not started again until a start is older. */
const MAX_STARTS = 3;
const WINDOW_MS = 300_000;
/** A busy machine needs half a minute. */
const ANSWER_MS = 180_000;
const MAX_LOG = 600;
/** The length of the last line of a log in a message: it tells why a program ends. */
const MAX_REASON = 140;

/** The members that must answer before it is started. Our own controllers need our kinds, too. */
export const NEEDS: Readonly<Record<PlaneMember, PlaneMember | undefined>> = {
  etcd: undefined,
  'kube-apiserver': 'etcd',
  'kube-controller-manager': 'kube-apiserver',
  'kube-scheduler': 'kube-apiserver',
  'kubenode-controllers': 'kube-apiserver',
};

/** Returns the first unmet step, in the order of dependencies. Undefined: every member runs and answers, or waits for one that starts. */
export function planMembers(input: HostingInput): HostingDecision | undefined {
  for (const member of MEMBERS) {
    const report = memberReport(input, member);
    const needed = NEEDS[member];
    if (!report || (needed !== undefined && memberReport(input, needed)?.state !== 'Ready')) continue;
    const decision = planMember(report, input);
    if (decision) return decision;
  }
  return undefined;
}

/** Plans the start of a member that has ended, and nothing else. */
export function planStart(input: HostingInput): HostingDecision | undefined {
  const decision = planMembers(input);
  return decision?.act?.type === 'Start' ? decision : undefined;
}

function planMember(report: MemberReport, input: HostingInput): HostingDecision | undefined {
  if (report.state === 'Ready') return undefined;
  return report.state === 'Starting' ? planStarting(report, input) : planStopped(report, input);
}

function planStarting(
  { member, unreadySince }: MemberReport,
  input: HostingInput,
): HostingDecision | undefined {
  const silentMs = unreadySince ? +input.now - +unreadySince : 0;
  if (silentMs < ANSWER_MS) return undefined;
  const because = `it has not answered for ${Math.round(silentMs / 1000)} s`;
  return disruptive(input, { type: 'Stop', member, because });
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

function endedTooOften({ starts }: MemberReport, now: Date): boolean {
  return starts.filter((at) => +now - +at < WINDOW_MS).length >= MAX_STARTS;
}

/** Returns why a member has failed that was started as often as is tried. */
export function crashReason(report: MemberReport, now: Date): string | undefined {
  if (report.state !== 'Stopped' || !endedTooOften(report, now)) return undefined;
  const line = (report.logTail ?? '').trim().split('\n').at(-1) ?? '';
  const last = line.replace(/^\s*\|\s*/, '').slice(-MAX_REASON);
  return `${report.member} ended ${MAX_STARTS} times within 5 minutes: ${last}`;
}

function crashed({ member, logTail = '' }: MemberReport, { plane }: HostingInput): HostingWait {
  const log = logTail.trim().slice(-MAX_LOG);
  return {
    reason: 'MemberCrashes',
    message: `${member} ended ${MAX_STARTS} times within 5 minutes; it is tried again. Read its log in ${plane.where}/logs; its end:\n${log}`,
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
export function waitForMembers({ plane }: Pick<HostingInput, 'plane'>): HostingWait | undefined {
  const starting = plane.members.find(({ state }) => state !== 'Ready');
  if (!starting) return undefined;
  return {
    reason: 'MemberStarting',
    message: `${starting.member} does not answer yet`,
    blocker: { kind: 'Process', name: starting.member },
    isStalled: false,
  };
}
