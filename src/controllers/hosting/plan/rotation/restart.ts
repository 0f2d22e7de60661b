/**
 * Plans the restarts of a phase: one member at a time, while all others answer. Of several API servers or members of etcd the next one is stopped
 * only after a client has found that those which were started again do what the phase asks for, so that authorities that do not work reach one
 * of them. Pure.
 */
import {
  isApiServer,
  isBalancer,
  isEtcdMember,
  type MemberReport,
  type PlaneMember,
} from '../../drivers/driver.ts';
import type { RotationPhase, RotationReport } from '../../drivers/rotation.ts';
import type { HostingDecision, HostingInput, HostingWait } from '../input.ts';
import { disruptMember, waitForMembers } from '../members.ts';
import { isNamespace, namesOf } from '../names.ts';
import { programsMissing } from '../programs.ts';
import { gateWait } from '../upgrade/members.ts';
import { wait } from '../wait.ts';
import { isAborting, unprovenMembers } from './state.ts';

/** Undefined: every member was started since the files are those of the phase. Each is started again at once, with what the phase has. */
export function planRestart(input: HostingInput, rotation: RotationReport): HostingDecision | undefined {
  const report = nextBehind(input, rotation);
  if (!report) return undefined;
  const { member, run } = report;
  const held = waitForMembers(input) ?? peersWait(input, rotation, member);
  if (held) return { wait: held };
  // A member whose programs are missing would not come back.
  const missing = run?.version === undefined ? undefined : programsMissing(input, run.version, member);
  if (missing) return missing;
  // The hub replaces a pod: the next API server serves before the former one ends.
  const type = isNamespace(input.plane) ? 'Restart' : 'Stop';
  return disruptMember(input, { type, member, because: `it is to ${PURPOSE[rotation.phase]}` });
}

/**
 * Plans the restart of a balancer that an earlier hosting has started. It does not read the CA again, so that it finds no API server ready where a
 * rotation was completed since its start.
 */
export function planFormerBalancer(input: HostingInput): HostingDecision | undefined {
  const { rotation, members } = input.plane;
  if (rotation?.phase !== 'Completed' || waitForMembers(input)) return undefined;
  const former = members.find(({ member, reaches }) => isBalancer(member) && reaches === undefined);
  if (!former) return undefined;
  const because = 'an earlier hosting has started it, and it may know the former authorities only';
  return disruptMember(input, { type: 'Stop', member: former.member, because });
}

/** One that does not do what clients ask for comes first: in a return, its restart may be what helps. */
function nextBehind({ plane, canary }: HostingInput, { behind }: RotationReport): MemberReport | undefined {
  const reports = plane.members.filter(({ member }) => behind.includes(member));
  return reports.find(({ member }) => member === failingMember(canary)) ?? reports[0];
}

function failingMember(canary: HostingInput['canary']): PlaneMember | undefined {
  return canary === 'Passed' ? undefined : canary?.member;
}

/** Returns why the next one of several is not stopped. The only one of its kind has none that could serve meanwhile. */
function peersWait(
  input: HostingInput,
  rotation: RotationReport,
  member: PlaneMember,
): HostingWait | undefined {
  const peers = peersOf(input, member);
  const started = peers.filter((peer) => !rotation.behind.includes(peer));
  const unproven = unprovenMembers(input, rotation).filter((each) => started.includes(each));
  if (unproven.length > 0) return unprovenWait(rotation, unproven);
  const isServed = peers.length > 0 && isApiServer(member);
  return isServed && !mayHelp(input, rotation) ? gateWait(input) : undefined;
}

function peersOf({ plane }: HostingInput, member: PlaneMember): readonly PlaneMember[] {
  const isPeer = [isApiServer, isEtcdMember].find((isKind) => isKind(member));
  const all = plane.members.map((each) => each.member);
  return isPeer ? all.filter((each) => each !== member && isPeer(each)) : [];
}

/** Tells whether the API server that fails still has what the rotation is taken back from, so that its restart may be what helps. */
function mayHelp(input: HostingInput, rotation: RotationReport): boolean {
  const failing = failingMember(input.canary);
  return failing !== undefined && isAborting(input, rotation) && rotation.behind.includes(failing);
}

const PURPOSE: Readonly<Record<RotationPhase, string>> = {
  TrustBoth: 'trust the former and the new authorities',
  IssueNew: 'use what the new authorities issued',
  ServeNew: 'serve what the new authorities issued',
  TrustNew: 'trust the new authorities only',
  TrustOld: 'trust the former authorities only',
  Completed: 'trust the new authorities only',
};

/** Returns what the phase waits for while members are not shown to do what it asks for. */
export function unprovenWait(
  { phase }: Pick<RotationReport, 'phase'>,
  unproven: readonly PlaneMember[],
): HostingWait | undefined {
  const [first] = unproven;
  if (first === undefined) return undefined;
  const message = `a client does not see yet that they ${PURPOSE[phase]}: ${namesOf(unproven)}`;
  return wait('AuthoritiesNotProven', message, ['Process', first]);
}
