/** Builders for hosted clusters and what is observed of them. */
import { DEFENDER_POLICIES } from '../../../src/api/generated/resources.ts';
import type { Cluster, Freeze, HostedAddon, Window } from '../../../src/api/generated/types.ts';
import { FINALIZER_HOSTING, FLEET_DEFAULT } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import {
  API_SERVERS,
  BALANCERS,
  isRunMember,
  MEMBERS,
  type MemberReport,
  type PlaneCertificate,
  type PlaneMember,
  type PlaneReport,
  type PlaneSpec,
  type SettledPlane,
  type UpkeepControl,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import type { RotationReport } from '../../../src/controllers/hosting/drivers/rotation.ts';
import { memberRuns } from '../../../src/controllers/hosting/drivers/runs.ts';
import type {
  Hosted,
  HostingDecision,
  HostingInput,
  UpkeepRun,
} from '../../../src/controllers/hosting/plan/input.ts';
import { planeOf } from '../../../src/controllers/hosting/plan/plane-of.ts';
import { wholeSeconds } from '../../../src/os/dates.ts';
import { NOW } from '../builders.ts';

/** The policy of the Defender of a hub, which limits nothing of its own. */
export const POLICY = {
  apiVersion: API_VERSION,
  kind: DEFENDER_POLICIES.kind,
  metadata: { name: FLEET_DEFAULT },
  spec: {},
};
export const VERSION = 'v1.36.3';
export const ETCD_VERSION = 'v3.6.8';
export const OLD_VERSION = 'v1.35.4';
export const OLD_ETCD_VERSION = 'v3.6.5';
/** The programs of the version before, and those of the version that the others are about. */
export const PROGRAMS = {
  versions: [
    { kubernetes: OLD_VERSION, etcd: OLD_ETCD_VERSION },
    { kubernetes: VERSION, etcd: ETCD_VERSION },
  ],
} as const;
export const LOCATION = 'here:/hosting/clusters/ci';

export const HOSTED: Hosted = {
  driver: 'process',
  version: VERSION,
  replicas: 1,
  network: { podCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/16', serviceDomain: 'cluster.local' },
  etcd: { replicas: 1, storageGiB: 8, quotaMiB: 2048 },
  apiServer: { extraArgs: {} },
  controllerManager: { extraArgs: {} },
  scheduler: { extraArgs: {} },
  exposure: { type: 'ClusterIP', port: 6443 },
  pki: { leafLifetimeSeconds: 31_536_000, renewAtPercent: 70 },
  upgrade: {
    soakSeconds: 60,
    progressDeadlineSeconds: 900,
    onFailure: 'Rollback',
    allowEtcdUpgrade: false,
    windows: [],
    freezes: [],
  },
  addons: [],
};

/** Returns an add-on whose digest is that digit. */
export function addon(name: string, digit = '1'): HostedAddon {
  return { name, url: `https://addons.example/${name}.yaml`, sha256: digit.repeat(64), enabled: true };
}

/** Returns a freeze that has begun, and ends in these hours. */
export function freeze(hours = 24): Freeze {
  return { name: 'sale', from: hoursFromNow(-1), until: hoursFromNow(hours), reason: 'sale' };
}

function hoursFromNow(hours: number): string {
  return wholeSeconds(new Date(+NOW + hours * 3_600_000));
}

export function window(start: string, end: string): Window {
  return { name: 'night', start, end, timeZone: 'UTC' };
}

export interface HostedParts {
  readonly name?: string;
  readonly metadata?: Partial<Cluster['metadata']>;
  readonly hosted?: Partial<Hosted>;
  readonly spec?: Partial<Cluster['spec']>;
  readonly deletion?: Partial<Cluster['spec']['deletion']>;
  readonly status?: Cluster['status'];
}

export function hostedCluster(parts: HostedParts = {}): Cluster {
  const { name = 'ci', metadata = {}, hosted = {}, spec = {}, deletion = {}, status } = parts;
  return {
    apiVersion: API_VERSION,
    kind: 'Cluster',
    metadata: { name, uid: `uid-${name}`, generation: 1, finalizers: [FINALIZER_HOSTING], ...metadata },
    spec: {
      environment: 'test',
      paused: false,
      pauses: [],
      hosted: { ...HOSTED, ...hosted },
      deletion: { protection: false, policy: 'Delete', force: false, timeoutSeconds: 1800, ...deletion },
      ...spec,
    },
    ...(status ? { status } : {}),
  };
}

export function planeSpec(name = 'ci', uid = `uid-${name}`): PlaneSpec {
  return planeOf(hostedCluster({ name, metadata: { uid } }), HOSTED);
}

/** Returns what a control plane was created or last changed with. */
export function settledPlane(version = VERSION, parts: Partial<Hosted> = {}): SettledPlane {
  const { settings } = planeOf(hostedCluster({ hosted: parts }), { ...HOSTED, ...parts });
  return { version, etcdVersion: version === OLD_VERSION ? OLD_ETCD_VERSION : ETCD_VERSION, settings };
}

/** Returns a member that answers and serves a certificate for a year. */
export function readyMember(member: PlaneMember, parts: Partial<MemberReport> = {}): MemberReport {
  const notAfter = new Date(+NOW + 365 * 86_400_000);
  const hasCertificate = isRunMember(member);
  return {
    member,
    state: 'Ready',
    ...(isRunMember(member) ? { run: memberRuns(settledPlane())[member], isOutdated: false } : {}),
    version: VERSION,
    starts: [new Date(+NOW - 3_600_000)],
    ...(hasCertificate ? { certificate: { serial: 'A1', expectedSerial: 'A1', notAfter } } : {}),
    ...parts,
  };
}

export function stoppedMember(member: PlaneMember, parts: Partial<MemberReport> = {}): MemberReport {
  return { member, state: 'Stopped', starts: [], ...parts };
}

/** Returns members that all answer, but for those that are given. */
export function members(
  but: Partial<Record<PlaneMember, Partial<MemberReport>>> = {},
): readonly MemberReport[] {
  return MEMBERS.map((member) => readyMember(member, but[member]));
}

/** Returns the members of a control plane with several API servers, which all answer but for those that are given. */
export function severalServers(
  count: number,
  but: Partial<Record<PlaneMember, Partial<MemberReport>>> = {},
): readonly MemberReport[] {
  const [etcd, , ...managers] = MEMBERS;
  const all: readonly PlaneMember[] = [etcd, ...BALANCERS, ...API_SERVERS.slice(0, count), ...managers];
  return all.map((member) => readyMember(member, but[member]));
}

export function planeReport(parts: Partial<PlaneReport> = {}): PlaneReport {
  return {
    where: '/hosting/clusters/ci',
    location: LOCATION,
    claim: 'Own',
    isPrepared: true,
    data: 'Own',
    lostKeys: [],
    certificates: certificates(),
    isDestroying: false,
    settled: settledPlane(),
    differences: [],
    programs: { versions: [{ kubernetes: VERSION, etcd: ETCD_VERSION }] },
    members: members(),
    ...parts,
  };
}

/** Returns the certificates in the files of a control plane, made a day ago, but for those that are given. */
export function certificates(
  but: Readonly<Record<string, Partial<PlaneCertificate>>> = {},
): readonly PlaneCertificate[] {
  const life = { issuedAt: daysFromNow(-1), notAfter: daysFromNow(364), renewAt: daysFromNow(254) };
  const servers: readonly PlaneMember[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  const all: readonly PlaneCertificate[] = [
    { name: 'etcd', ...life, servedBy: ['etcd'] },
    { name: 'apiserver', ...life, servedBy: servers },
    { name: 'sync', ...life },
    { name: 'ca', notAfter: daysFromNow(3649) },
  ];
  return all.map((each) => ({ ...each, ...but[each.name] }));
}

export function daysFromNow(days: number): Date {
  return new Date(+NOW + days * 86_400_000);
}

export const NOTHING: Partial<PlaneReport> = {
  claim: 'None',
  data: 'Empty',
  certificates: [],
  isPrepared: false,
  settled: undefined,
  members: MEMBERS.map((member) => stoppedMember(member)),
};

export const INSIDE = { isInstalled: true, controllersLead: true, machines: [], machineSets: [] };

export interface InputParts extends HostedParts {
  readonly plane?: Partial<PlaneReport>;
  readonly input?: Partial<Omit<HostingInput, 'plane' | 'cluster' | 'hosted'>>;
}

/** Returns the input of a control plane that is complete. */
export function hostingInput({ plane = {}, input = {}, ...parts }: InputParts = {}): HostingInput {
  const cluster = hostedCluster(parts);
  return {
    cluster,
    hosted: cluster.spec.hosted ?? HOSTED,
    plane: planeReport(plane),
    inside: INSIDE,
    secret: 'Current',
    overLimit: undefined,
    maxAgeSeconds: 691_200,
    grant: undefined,
    halt: undefined,
    now: NOW,
    ...input,
  };
}

/** Returns a backup or a drill that has been running for a minute. */
export function upkeepRun(type: UpkeepRun['type']): UpkeepRun {
  return { type, step: 'Copying', startedAt: new Date(+NOW - 60_000) };
}

/** Returns the control of a backup or a drill that runs to its end. */
export function undisturbed(): UpkeepControl {
  return { signal: new AbortController().signal, onStep: () => undefined };
}

/** Returns the decision in one line: `Start etcd: it is not running`, or `wait MemberStarting`. */
export function decisionText({ act, wait }: HostingDecision): string {
  if (act) return `${act.type}${subjectOf(act)}: ${act.because}`;
  return wait ? `${wait.isStalled ? 'stalled' : 'wait'} ${wait.reason}` : 'nothing';
}

function subjectOf(act: NonNullable<HostingDecision['act']>): string {
  if ('member' in act) return ` ${act.member}`;
  if (act.type === 'SetApiServers') return ` ${act.count}`;
  if (act.type === 'Rotate') return ` ${act.step.phase}`;
  if (act.type === 'ApplyAddon') return ` ${act.addon.name}`;
  return act.type === 'RemoveAddon' ? ` ${act.name}` : '';
}

/** What a restore drill has found. */
/** A rotation that every member has followed, and that may be completed. */
export const ROTATION: RotationReport = {
  id: '2026',
  phase: 'IssueNew',
  isApplied: true,
  isEnding: false,
  hasIssued: true,
  isSigned: true,
  behind: [],
  proofs: [],
};

export const DRILLED = {
  backup: '000001-20300101T000000Z',
  clusterUid: 'uid-of-kube-system',
  objects: 312,
  resources: 24,
  namespaces: 4,
  ours: 7,
} as const;
