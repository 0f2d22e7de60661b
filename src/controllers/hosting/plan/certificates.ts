/** Plans the renewal of certificates, and the restart of a member that ignores a new one. Pure. */
import type { MemberReport, PlaneCertificate, PlaneMember } from '../drivers/driver.ts';
import type { HostingDecision, HostingInput } from './input.ts';
import { disruptMember, waitForMembers } from './members.ts';
import { isNamespace } from './names.ts';
import { programsMissing } from './programs.ts';
import { wait } from './wait.ts';

/** The time before a certificate is issued again: one that is always due would be issued for ever. */
const AGAIN_MS = 60_000;
/** The programs of Kubernetes read their files again within a minute. */
const RELOAD_MS = 180_000;
/** A kubelet writes the files of a pod up to two minutes after its Secret was changed. */
const POD_RELOAD_MS = RELOAD_MS + 120_000;

/** A certificate is renewed when its time has come, or what it is made for has changed; never because a member ignores it. */
export function planRenewal({ plane, now }: HostingInput): HostingDecision | undefined {
  const found = plane.certificates.find(
    ({ due, issuedAt }) => due !== undefined && !(issuedAt && isRecent(issuedAt, now, AGAIN_MS)),
  );
  if (!found) return undefined;
  return { act: { type: 'Prepare', because: `the certificate ${found.name} is due: ${found.due}` } };
}

/** Restarts one member at a time, while all others answer. */
export function planReload(input: HostingInput): HostingDecision | undefined {
  if (waitForMembers(input)) return undefined;
  for (const report of input.plane.members) {
    const issuedAt = ignoredSince(report, input);
    if (issuedAt) return planRestart(report, issuedAt, input);
  }
  return undefined;
}

/** Returns when the certificate was issued that the member should have read long ago. */
function ignoredSince({ member, certificate }: MemberReport, input: HostingInput): Date | undefined {
  if (!certificate || certificate.serial === certificate.expectedSerial) return undefined;
  const issuedAt = certificateFor(member, input.plane.certificates)?.issuedAt;
  const reloadMs = isNamespace(input.plane) ? POD_RELOAD_MS : RELOAD_MS;
  return issuedAt && !isRecent(issuedAt, input.now, reloadMs) ? issuedAt : undefined;
}

function planRestart(
  { member, starts, run }: MemberReport,
  issuedAt: Date,
  input: HostingInput,
): HostingDecision {
  const startedAt = starts.at(-1);
  if (!startedAt || startedAt < issuedAt) {
    const missing = run?.version === undefined ? undefined : programsMissing(input, run.version, member);
    if (missing) return missing;
    const because = `it ignores the certificate that was issued at ${issuedAt.toISOString()}`;
    return disruptMember(input, { type: 'Stop', member, because });
  }
  const message = `${member} was started after the certificate in its file was issued, and serves another one: end its process, and hosting starts it again`;
  return { wait: wait('OldCertificateServed', message, ['Process', member], 'stalled') };
}

export function certificateFor(
  member: PlaneMember,
  certificates: readonly PlaneCertificate[],
): PlaneCertificate | undefined {
  return certificates.find(({ servedBy = [] }) => servedBy.includes(member));
}

function isRecent(at: Date, now: Date, ms: number): boolean {
  return +now - +at < ms && +now >= +at;
}
