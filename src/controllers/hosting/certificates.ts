/** Tells the state of the certificates of a control plane: as a condition, and with the end of each. Pure. */
import type { HostedCertificate } from '../../api/generated/types.ts';
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { wholeSeconds } from '../../os/dates.ts';
import { isRunMember, type MemberReport, type PlaneCertificate } from './drivers/driver.ts';
import { certificateFor } from './plan/certificates.ts';
import type { HostingInput } from './plan/input.ts';

const SOON_MS = 30 * 86_400_000;

/** Judges certificates by the serials that a client sees: a file that was renewed proves nothing. */
export function certificatesValid({ plane, now }: HostingInput): ConditionUpdate {
  const type = 'CertificatesValid';
  const problem = endedReason(plane, now) ?? oldReason(plane.members) ?? dueReason(plane.certificates);
  if (problem) return { type, status: 'False', ...problem };
  const served = plane.members.filter(({ certificate }) => certificate).length;
  if (served === 0) {
    return { type, status: 'Unknown', reason: 'NotServed', message: 'no member serves a certificate' };
  }
  const missing = plane.members.filter(({ member }) => isRunMember(member)).length - served;
  const observed = `a client sees the certificates of ${served} members${missing > 0 ? `; ${missing} do not answer` : ''}`;
  const authority = plane.certificates.find((each) => !each.renewAt && endsBefore(each, +now + SOON_MS));
  if (!authority) return { type, status: 'True', reason: 'SeenOnTheWire', message: observed };
  const message = `${observed}; ${authority.name} ends at ${authority.notAfter?.toISOString()}: rotate it before by spec.hosted.pki.caRotation`;
  return { type, status: 'True', reason: 'AuthorityEndsSoon', message };
}

type Problem = Pick<ConditionUpdate, 'reason' | 'message'>;
type Plane = HostingInput['plane'];

function endedReason({ members, certificates }: Plane, now: Date): Problem | undefined {
  const served = members.flatMap(({ member: name, certificate }) =>
    certificate ? [{ name, ...certificate }] : [],
  );
  const ended = [...served, ...certificates].find((each) => endsBefore(each, +now));
  if (!ended) return undefined;
  const message = `the certificate of ${ended.name} ended at ${ended.notAfter?.toISOString()}`;
  return { reason: 'Expired', message };
}

function endsBefore({ notAfter }: Pick<PlaneCertificate, 'notAfter'>, timeMs: number): boolean {
  return notAfter !== undefined && +notAfter <= timeMs;
}

function oldReason(members: readonly MemberReport[]): Problem | undefined {
  const old = members.find(
    ({ certificate }) => certificate && certificate.serial !== certificate.expectedSerial,
  );
  if (!old) return undefined;
  const message = `${old.member} does not serve the certificate in its file: it was renewed, or edited by hand`;
  return { reason: 'OldCertificateServed', message };
}

function dueReason(certificates: readonly PlaneCertificate[]): Problem | undefined {
  const due = certificates.find((each) => each.due !== undefined);
  return due && { reason: 'RenewalDue', message: `the certificate ${due.name} is to be renewed: ${due.due}` };
}

/** Lists the certificates that members serve, as a client sees them, and then those that are only in files. */
export function certificatesStatus({ members, certificates }: Plane): readonly HostedCertificate[] {
  const served = members.flatMap(({ member: name, certificate }) => {
    if (!certificate) return [];
    const { notAfter, serial } = certificate;
    const { renewAt } = certificateFor(name, certificates) ?? {};
    return [{ name, notAfter: wholeSeconds(notAfter), serial, ...optional('renewAt', textOf(renewAt)) }];
  });
  const inFiles = certificates.filter(({ servedBy = [] }) => servedBy.length === 0);
  return [
    ...served,
    ...inFiles.map(({ name, notAfter, renewAt }) => ({
      name,
      ...optional('notAfter', textOf(notAfter)),
      ...optional('renewAt', textOf(renewAt)),
    })),
  ];
}

function textOf(time: Date | undefined): string | undefined {
  return time && wholeSeconds(time);
}
