/** Builds the part of the status of a Cluster that hosting writes. Pure. */
import type { Cluster, ClusterHostedStatus, Condition, HostedComponent } from '../../api/generated/types.ts';
import { waitingSince } from '../../api/status/waiting.ts';
import type { StatusIntent } from '../../kube/controller/intent.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { wholeSeconds } from '../../os/dates.ts';
import { backupStatus } from './backups.ts';
import { certificatesStatus } from './certificates.ts';
import { hostingConditions, isPlaneReady, unobservedConditions } from './conditions.ts';
import {
  API_SERVERS,
  BALANCERS,
  ETCD_MEMBERS,
  GATEWAYS,
  isApiServer,
  isBalancer,
  isEtcdMember,
  isGateway,
  type MemberReport,
  type PlaneMember,
} from './drivers/driver.ts';
import { lastOutage } from './outage.ts';
import { etcdReports } from './plan/etcd/quorum.ts';
import type { HostingAct, HostingInput, HostingWait } from './plan/input.ts';
import { rotationStatus } from './plan/rotation/status.ts';
import { closedTimes } from './plan/upgrade/closed.ts';
import { upgradeStatus } from './plan/upgrade/status.ts';

/** The conditions that hosting writes; all others of a Cluster are those of sync. */
export const HOSTING_CONDITIONS = [
  'ControlPlaneReady',
  'ControlPlaneUpToDate',
  'EtcdReady',
  'CertificatesValid',
  'BackupReady',
  'AddonsReady',
  'ControlPlaneStalled',
] as const;

export function hostingStatus(
  input: HostingInput,
  wait: HostingWait | undefined,
  act?: HostingAct,
): StatusIntent<Cluster>['status'] {
  const conditions = conditionsOf(input, hostingConditions(input, wait));
  return { conditions, hosted: hostedStatus(input, wait, act) };
}

/** Builds the status of a control plane that cannot be observed. Unknown is not absent: what was observed before stays. */
export function unobservedStatus(
  input: Pick<HostingInput, 'cluster' | 'now'>,
  wait: HostingWait,
): StatusIntent<Cluster>['status'] {
  const { cluster, now } = input;
  const before = cluster.status?.hosted;
  const waiting = waitingSince(wait, before?.waiting, now);
  return {
    conditions: conditionsOf(input, unobservedConditions(input, wait)),
    hosted: { ...before, waiting },
  };
}

function conditionsOf(
  { cluster, now }: Pick<HostingInput, 'cluster' | 'now'>,
  updates: readonly ConditionUpdate[],
): readonly Condition[] {
  const { status, metadata } = cluster;
  const own = new Set<string>(HOSTING_CONDITIONS);
  const before = (status?.conditions ?? []).filter(({ type }) => own.has(type));
  return withConditions(before, updates, now, metadata.generation);
}

function hostedStatus(
  input: HostingInput,
  wait: HostingWait | undefined,
  act: HostingAct | undefined,
): ClusterHostedStatus {
  const { plane, cluster, now } = input;
  const before = cluster.status?.hosted;
  const etcd = componentOf('etcd', etcdReports(input));
  const readyAt = before?.readyAt ?? (isPlaneReady(input) ? wholeSeconds(now) : undefined);
  return {
    ...optional('observedGeneration', cluster.metadata.generation),
    ...optional('location', locationOf(input, act)),
    ...optional('readyAt', readyAt),
    ...upgradeStatus(input, act),
    closedTimes: closedTimes(input),
    ...optional('lastOutage', lastOutage(input)),
    ...optional('deprecatedApis', deprecatedApisOf(input)),
    components: componentsOf(input),
    certificates: certificatesStatus(plane),
    ...optional('caRotation', rotationStatus(input)),
    etcd: {
      members: etcd.desired,
      ready: etcd.ready,
      ...optional('dbBytes', plane.space?.dbBytes),
      ...backupStatus(input),
    },
    ...optional('waiting', wait && waitingSince(wait, before?.waiting, now)),
  };
}

/** Keeps what was read before while the API server does not answer. */
function deprecatedApisOf({ inside, cluster }: HostingInput): ClusterHostedStatus['deprecatedApis'] {
  return inside ? inside.deprecatedApis : cluster.status?.hosted?.deprecatedApis;
}

function locationOf(
  { plane, cluster }: HostingInput,
  act: HostingAct | undefined,
): ClusterHostedStatus['location'] {
  if (plane.claim === 'Own' || act?.type === 'RecordLocation') return plane.location;
  return cluster.status?.hosted?.location;
}

/** Counts several members of a kind as one component, in the order of the members. */
function componentsOf({ plane }: HostingInput): readonly HostedComponent[] {
  const names = [...new Set(plane.members.map(({ member }) => kindOf(member)))];
  return names.map((name) =>
    componentOf(
      name,
      plane.members.filter(({ member }) => kindOf(member) === name),
    ),
  );
}

/** Returns `etcd` for each member of etcd. */
function kindOf(member: PlaneMember): PlaneMember {
  if (isEtcdMember(member)) return ETCD_MEMBERS[0];
  if (isApiServer(member)) return API_SERVERS[0];
  if (isGateway(member)) return GATEWAYS[0];
  return isBalancer(member) ? BALANCERS[0] : member;
}

/** The version of several members is the lowest: the component is at a version when all are. */
function componentOf(
  name: string,
  reports: readonly MemberReport[],
): HostedComponent & { readonly ready: number; readonly desired: number } {
  const versions = reports.flatMap(({ version }) => version ?? []);
  const [lowest] = versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const ready = reports.filter(({ state }) => state === 'Ready').length;
  return { name, ...optional('version', lowest), ready, desired: reports.length };
}
