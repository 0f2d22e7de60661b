/** Builds the part of the status of a Cluster that hosting writes. Pure. */
import type {
  Cluster,
  ClusterHostedStatus,
  HostedCertificate,
  HostedComponent,
} from '../../api/generated/types.ts';
import { waitingSince } from '../../api/status/waiting.ts';
import type { StatusIntent } from '../../kube/controller/intent.ts';
import { withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { wholeSeconds } from '../../os/dates.ts';
import { hostingConditions, isPlaneReady } from './conditions.ts';
import type { MemberReport } from './drivers/driver.ts';
import type { HostingInput, HostingWait } from './plan/input.ts';
import { memberReport } from './plan/members.ts';

/** The conditions that hosting writes; all others of a Cluster are those of sync. */
export const HOSTING_CONDITIONS = [
  'ControlPlaneReady',
  'ControlPlaneUpToDate',
  'EtcdReady',
  'CertificatesValid',
  'ControlPlaneStalled',
] as const;

export function hostingStatus(
  input: HostingInput,
  wait: HostingWait | undefined,
): StatusIntent<Cluster>['status'] {
  const { status, metadata } = input.cluster;
  const own = new Set<string>(HOSTING_CONDITIONS);
  const before = (status?.conditions ?? []).filter(({ type }) => own.has(type));
  const updates = hostingConditions(input, wait);
  const conditions = withConditions(before, updates, input.now, metadata.generation);
  return { conditions, hosted: hostedStatus(input, wait) };
}

function hostedStatus(input: HostingInput, wait: HostingWait | undefined): ClusterHostedStatus {
  const { plane, cluster, now } = input;
  const before = cluster.status?.hosted;
  const readyAt = before?.readyAt ?? (isPlaneReady(input) ? wholeSeconds(now) : undefined);
  return {
    ...optional('observedGeneration', cluster.metadata.generation),
    ...optional('readyAt', readyAt),
    components: plane.members.map(componentOf),
    certificates: plane.members.flatMap(certificateOf),
    etcd: { members: 1, ready: countOf(memberReport(input, 'etcd')) },
    ...optional('waiting', wait && waitingSince(wait, before?.waiting, now)),
  };
}

function countOf(report: MemberReport | undefined): number {
  return report?.state === 'Ready' ? 1 : 0;
}

function componentOf(report: MemberReport): HostedComponent {
  const { member: name, version } = report;
  return { name, ...optional('version', version), ready: countOf(report), desired: 1 };
}

function certificateOf({ member: name, certificate }: MemberReport): readonly HostedCertificate[] {
  if (!certificate) return [];
  return [{ name, notAfter: wholeSeconds(certificate.notAfter), serial: certificate.serial }];
}
