/** A control plane in memory: what a folder and its processes would have. */

import type { SignedAuthorities } from '../../../../src/api/authorities/document.ts';
import type { InstalledAddon } from '../../../../src/controllers/hosting/addons/report.ts';
import {
  API_SERVERS,
  ETCD_MEMBERS,
  type EtcdMember,
  type EtcdSpace,
  isEtcdMember,
  isRunMember,
  type MemberReport,
  type MemberRun,
  type OutsideAddress,
  type PlaneCertificate,
  type PlaneMember,
  type PlaneSpec,
  type SettledPlane,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { memberRuns } from '../../../../src/controllers/hosting/drivers/runs.ts';
import type { MachineClient, TokenSecret } from '../../../../src/controllers/hosting/inside/clients.ts';
import type { InsideReport } from '../../../../src/controllers/hosting/inside/execute.ts';
import { canonicalJson } from '../../../../src/kube/objects/digest.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import type { KeyFile } from '../contract/faults.ts';
import { PROGRAMS, readyMember, stoppedMember } from '../objects.ts';
import { liveEtcd, type MemoryEtcdMember } from './etcd.ts';
import type { MemoryRotation } from './rotation.ts';
import { hasClientPort, liveServers, type MemoryServers, memoryServers, reachedBy } from './servers.ts';

const DAY_MS = 86_400_000;
const LIFE_DAYS = 365;
const LOG_BYTES = 16 * 1024 ** 2;
const LEAVES = ['etcd', 'apiserver', 'sync', 'admin'] as const;
export type MemoryLeafName = (typeof LEAVES)[number];

interface MemoryLeaf {
  readonly serial: string;
  readonly issuedAt: Date;
  readonly problem?: string;
  /** The name for clients of other machines in the certificate. */
  readonly host?: string | undefined;
}

export interface MemoryPlane {
  spec: PlaneSpec;
  settled: SettledPlane;
  readonly runs: Map<PlaneMember, MemberRun>;
  /** What each process was started with. */
  readonly processes: Map<PlaneMember, MemberRun | undefined>;
  snapshotAt?: Date;
  /** The database of its etcd. */
  space?: EtcdSpace | undefined;
  /** The backup that its data began with. */
  restoredFrom?: string;
  /** Made once: a second one would strand every client. */
  authority: string;
  readonly createdAt: Date;
  isDestroying: boolean;
  readonly running: Map<PlaneMember, string>;
  readonly starts: Map<PlaneMember, Date[]>;
  isInstalled: boolean;
  machines: string[];
  machineSets: string[];
  readonly addons: Map<string, InstalledAddon>;
  hasNodes: boolean;
  data: 'Empty' | 'Own' | 'Other';
  readonly etcd: Map<EtcdMember, MemoryEtcdMember>;
  readonly servers: MemoryServers;
  /** Where other machines reach it. */
  outside?: OutsideAddress | undefined;
  /** The name that its certificates are to have. */
  host?: string | undefined;
  /** The rotation of its authorities. */
  rotation?: MemoryRotation | undefined;
  /** What was signed last of its authorities. */
  signed?: SignedAuthorities | undefined;
  /** What is published of them inside the cluster. */
  published?: SignedAuthorities | undefined;
  /** The endpoint of the Service `kubernetes` inside the cluster. */
  endpoint?: InsideReport['endpoint'];
  /** Whether a policy of the cluster refuses that endpoint. */
  refusesEndpoint?: boolean;
  /** What the agents of the cluster report. */
  agents: MachineClient[];
  nodes: string[];
  tokens: TokenSecret[];
  readonly lostKeys: Map<KeyFile, string>;
  readonly leaves: Map<MemoryLeafName, MemoryLeaf>;
  isRecordDamaged: boolean;
  isOpen: boolean;
  isBroken: boolean;
  isPortTaken: boolean;
  logBytes: number;
  /** Members that serve the certificate with which they were started, whatever is in the file. */
  readonly ignoring: Map<PlaneMember, string>;
}

export function memoryPlane(spec: PlaneSpec, authority: string, createdAt: Date): MemoryPlane {
  return {
    spec,
    settled: { version: spec.version, etcdVersion: etcdOf(spec.version), settings: spec.settings },
    runs: new Map(),
    processes: new Map(),
    authority,
    createdAt,
    isDestroying: false,
    running: new Map(),
    starts: new Map(),
    isInstalled: false,
    machines: [],
    machineSets: [],
    addons: new Map(),
    hasNodes: false,
    data: 'Empty',
    etcd: new Map(),
    servers: memoryServers(spec),
    outside: spec.outside,
    host: spec.outside?.host,
    nodes: [],
    agents: [],
    tokens: [],
    lostKeys: new Map(),
    leaves: new Map(),
    isRecordDamaged: false,
    isOpen: false,
    isBroken: false,
    isPortTaken: false,
    logBytes: 0,
    ignoring: new Map(),
  };
}

/** Issues what is missing or due. */
export function issueLeaves(plane: MemoryPlane, now: Date, nextSerial: () => string): void {
  for (const name of LEAVES) {
    if (dueReason(plane, name, now) === undefined) continue;
    plane.leaves.set(name, { serial: nextSerial(), issuedAt: now, host: plane.host });
  }
  plane.isOpen = false;
}

function dueReason({ leaves, spec, host }: MemoryPlane, name: MemoryLeafName, now: Date): string | undefined {
  const leaf = leaves.get(name);
  if (!leaf) return 'it is missing';
  const ageMs = +now - +leaf.issuedAt;
  const isOld = ageMs * 100 > LIFE_DAYS * DAY_MS * spec.settings.renewAtPercent;
  if (name === 'apiserver' && host !== undefined && host !== leaf.host) return `names missing: ${host}`;
  return leaf.problem ?? (isOld ? 'it expires' : undefined);
}

const SERVED_BY: Partial<Record<MemoryLeafName, readonly PlaneMember[]>> = {
  etcd: ETCD_MEMBERS,
  apiserver: [...API_SERVERS, 'kube-controller-manager', 'kube-scheduler'],
};

export function memoryCertificates(plane: MemoryPlane, now: Date): readonly PlaneCertificate[] {
  const authority = { name: 'ca', notAfter: new Date(+plane.createdAt + 3650 * DAY_MS) };
  const leaves = LEAVES.map((name) => {
    const due = dueReason(plane, name, now);
    const leaf = plane.leaves.get(name);
    const servedBy = SERVED_BY[name] ?? [];
    if (!leaf || due === 'it is damaged') return { name, due, servedBy };
    const { issuedAt } = leaf;
    const notAfter = new Date(+issuedAt + LIFE_DAYS * DAY_MS);
    const renewAt = new Date(+issuedAt + (LIFE_DAYS * DAY_MS * plane.spec.settings.renewAtPercent) / 100);
    return { name, due, issuedAt, notAfter, renewAt, servedBy };
  });
  return [...leaves, authority];
}

/** `refuses`: it answers, and takes no writes. */
export type ProgramFault = 'crashes' | 'hangs' | 'refuses';

/** What programs do that have a fault, by member and version: `kube-apiserver v1.36.3`. */
export type ProgramFaults = ReadonlyMap<string, ProgramFault>;

export function reportMember(plane: MemoryPlane, member: PlaneMember, faults: ProgramFaults): MemberReport {
  live(plane, member);
  const process = plane.processes.get(member);
  const fault = faults.get(`${member} ${process?.version}`);
  if (fault === 'crashes') plane.running.delete(member);
  const run = runOf(plane, member);
  const shared = { starts: plane.starts.get(member) ?? [], run, ...dataOf(plane, member) };
  const identity = plane.running.get(member);
  if (identity === undefined) {
    const logTail = shared.starts.length > 0 ? '  | panic: the disk is broken' : undefined;
    return stoppedMember(member, { ...shared, logTail });
  }
  const isOutdated = canonicalJson(process) !== canonicalJson(run);
  const running = {
    ...shared,
    identity,
    isOutdated,
    isDirect: hasClientPort(plane, member),
    ...reachedBy(plane, member),
    version: process?.version,
  };
  const state = fault === 'hangs' ? 'Starting' : 'Ready';
  return withCertificate(plane, readyMember(member, { ...running, state }));
}

function dataOf({ etcd }: MemoryPlane, member: PlaneMember): Pick<MemberReport, 'data'> {
  return isEtcdMember(member) ? optional('data', etcd.get(member)?.data) : {};
}

export function runOf({ runs, settled }: MemoryPlane, member: PlaneMember): MemberRun | undefined {
  return isRunMember(member) ? (runs.get(member) ?? memberRuns(settled)[member]) : undefined;
}

function etcdOf(version: string): string | undefined {
  return PROGRAMS.versions.find(({ kubernetes }) => kubernetes === version)?.etcd;
}

/** What happens by itself: a broken etcd ends, one that runs writes its data, and logs are bounded. */
function live(plane: MemoryPlane, member: PlaneMember): void {
  plane.logBytes = plane.logBytes > LOG_BYTES ? 0 : plane.logBytes;
  liveServers(plane);
  if (!isEtcdMember(member)) return;
  if (plane.isBroken) plane.running.delete(member);
  liveEtcd(plane, member);
  if (member !== 'etcd' || plane.spec.settings.etcdReplicas !== undefined) return;
  if (plane.data === 'Empty' && plane.running.has(member)) plane.data = 'Own';
}

function withCertificate(plane: MemoryPlane, report: MemberReport): MemberReport {
  const { member, certificate } = report;
  const file = plane.leaves.get(isEtcdMember(member) ? 'etcd' : 'apiserver');
  if (!certificate || !file) return report;
  const serial = plane.ignoring.get(member) ?? file.serial;
  return { ...report, certificate: { ...certificate, serial, expectedSerial: file.serial } };
}
