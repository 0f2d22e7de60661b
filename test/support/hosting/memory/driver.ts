/** The driver of control planes in memory: it fulfills the same contract as that of processes. */
import type { ClusterAddons } from '../../../../src/controllers/hosting/addons/report.ts';
import {
  MEMBERS,
  type MemberRun,
  type PlaneDriver,
  type PlaneOwner,
  type PlaneReport,
  type PlaneSpec,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { EMULATED_VERSION, settledDifferences } from '../../../../src/controllers/hosting/drivers/runs.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import type { ClusterInside } from '../../../../src/controllers/hosting/inside/execute.ts';
import { canonicalJson } from '../../../../src/kube/objects/digest.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { OsError } from '../../../../src/os/errors.ts';
import type { Surroundings } from '../contract/faults.ts';
import { PROGRAMS, stoppedMember } from '../objects.ts';
import { memoryAddons } from './addons.ts';
import { type MemoryBackups, memoryBackupOperations, memoryBackups, reportBackups } from './backups.ts';
import { listOf, membersOf, memoryEtcdActs, requireJoin } from './etcd.ts';
import { memoryInside } from './inside.ts';
import { memoryOutsideActs, requireAllowed, syncServer } from './outside.ts';
import {
  issueLeaves,
  type MemoryPlane,
  memoryCertificates,
  memoryPlane,
  type ProgramFault,
  reportMember,
  runOf,
} from './plane.ts';
import { recordMemoryStart, rotateMemory, rotationReport, signMemory, trustedOf } from './rotation.ts';
import { memoryServerActs, requirePort, serverAccess } from './servers.ts';

export interface MemoryHosting {
  readonly driver: PlaneDriver;
  /** Opens another driver on the same control planes, in another surroundings. */
  readonly reopen: (surroundings: Surroundings) => PlaneDriver;
  readonly inside: ClusterInside;
  readonly addons: ClusterAddons;
  /** The URLs of add-ons that do not answer. */
  readonly unreachable: Set<string>;
  readonly planes: Map<string, MemoryPlane>;
  readonly backups: MemoryBackups;
  /** The acts that changed something, in their order. */
  readonly log: string[];
  /** What programs do that have a fault, by member and version: `kube-apiserver v1.36.3`. */
  readonly faults: Map<string, ProgramFault>;
  /** How many authorities were made. */
  readonly authorities: () => number;
}

interface Shared {
  readonly now: () => Date;
  readonly place: string;
  readonly planes: Map<string, MemoryPlane>;
  readonly backups: MemoryBackups;
  readonly log: string[];
  readonly faults: Map<string, ProgramFault>;
  /** Returns a number that was never returned before. */
  readonly next: (what: string) => number;
}

export function memoryHosting(now: () => Date, place = 'memory'): MemoryHosting {
  const counts = new Map<string, number>();
  const next = (what: string): number => {
    const count = (counts.get(what) ?? 0) + 1;
    counts.set(what, count);
    return count;
  };
  const backups = memoryBackups();
  const shared: Shared = { now, place, planes: new Map(), backups, log: [], faults: new Map(), next };
  const unreachable = new Set<string>();
  return {
    driver: memoryDriver(shared, {}),
    reopen: (surroundings) => memoryDriver(shared, surroundings),
    inside: memoryInside(shared.planes, shared.log, shared.faults),
    addons: memoryAddons(shared.planes, shared.log, unreachable),
    unreachable,
    planes: shared.planes,
    backups,
    log: shared.log,
    faults: shared.faults,
    authorities: () => counts.get('authority') ?? 0,
  };
}

function memoryDriver(shared: Shared, surroundings: Surroundings): PlaneDriver {
  const { planes, log, next, now } = shared;
  return {
    observe: async (spec) => observe(spec, shared, surroundings),
    prepare: async (spec) => prepare(spec, shared, surroundings),
    start: async (spec, member) => {
      const plane = own(spec, planes);
      if (!plane) throw new HostingError('NotPrepared', `${spec.name} is not prepared`, { where: spec.name });
      if (plane.running.has(member) || plane.isDestroying) return;
      requireStart(plane);
      requireJoin(plane, member);
      requirePort(plane, member);
      plane.starts.set(member, [...(plane.starts.get(member) ?? []), now()]);
      plane.running.set(member, `process ${next('process')}`);
      plane.ignoring.delete(member);
      plane.processes.set(member, runOf(plane, member));
      recordMemoryStart(plane, member);
      log.push(`start ${spec.name} ${member}`);
    },
    stop: async (owner, member) => {
      if (own(owner, planes)?.running.delete(member)) log.push(`stop ${owner.name} ${member}`);
    },
    ...memoryChanges(shared),
    ...memoryEtcdActs((owner) => own(owner, planes), log),
    ...memoryServerActs((owner) => own(owner, planes), log),
    ...memoryOutsideActs((owner) => own(owner, planes), log),
    backups: memoryBackupOperations(shared.backups, {
      now,
      log,
      own: (owner) => own(owner, planes),
      isDiskFull: surroundings.isDiskFull === true,
    }),
    beginDestroy: async (owner) => {
      const plane = own(owner, planes);
      if (plane) plane.isDestroying = true;
    },
    remove: async (owner) => {
      const plane = own(owner, planes);
      if (!plane) return;
      if (plane.running.size > 0) {
        throw new HostingError('NotStopped', `members of ${owner.name} run`, { where: owner.name });
      }
      planes.delete(owner.name);
      log.push(`remove ${owner.name}`);
    },
    access: async (owner) => {
      const plane = planes.get(owner.name);
      if (plane?.spec.uid !== owner.uid || isSyncDamaged(plane)) return undefined;
      const { authority, leaves } = plane;
      const admin = owner.name;
      return {
        server: 'https://127.0.0.1:1',
        admin,
        sync: `sync ${admin} ${trustedOf(plane, authority)} ${leaves.get('sync')?.serial}${syncServer(plane)}`,
        ...optional('apiServers', serverAccess(plane)),
      };
    },
  };
}

type Changes = Pick<PlaneDriver, 'change' | 'snapshot' | 'settle' | 'shrink' | 'rotate' | 'signAuthorities'>;

function memoryChanges({ planes, log, now, next }: Shared): Changes {
  return {
    rotate: async (spec, step) => {
      const plane = own(spec, planes);
      if (!plane || plane.isDestroying) return;
      if (!rotateMemory(plane, step, { now: now(), next })) return;
      log.push(`rotate ${spec.name} ${step.phase}`);
    },
    signAuthorities: async (owner, known) => {
      const plane = own(owner, planes);
      return plane && signMemory(plane, known, now());
    },
    change: async (owner, member, run) => {
      const plane = own(owner, planes);
      if (!plane || plane.isDestroying) return;
      plane.starts.delete(member);
      plane.runs.set(member, run);
      log.push(`change ${owner.name} ${member} to ${runText(run)}`);
      if (canonicalJson(plane.processes.get(member)) !== canonicalJson(run)) plane.running.delete(member);
    },
    snapshot: async (owner) => {
      const plane = own(owner, planes);
      if (!plane) return;
      plane.snapshotAt = now();
      log.push(`snapshot ${owner.name}`);
    },
    shrink: async (owner) => {
      const plane = own(owner, planes);
      if (!plane?.space) return;
      const { space } = plane;
      const isFull = space.isFull && space.inUseBytes > 0.9 * space.quotaBytes;
      const attempt = { at: now(), ...(isFull ? { problem: 'too much is in use' } : {}) };
      plane.space = { ...space, isFull, attempt, dbBytes: space.inUseBytes };
      log.push(`shrink ${owner.name}`);
      if (isFull) throw new HostingError('EtcdFull', 'too much is in use', { where: owner.name });
    },
    settle: async (owner, settled) => {
      const plane = own(owner, planes);
      if (!plane || canonicalJson(plane.settled) === canonicalJson(settled)) return;
      plane.settled = settled;
      log.push(`settle ${owner.name} ${settled.version}`);
    },
  };
}

function runText({ version, flags }: MemberRun): string {
  const emulated = flags[EMULATED_VERSION];
  return emulated === undefined ? `${version}` : `${version} as ${emulated}`;
}

function own({ name, uid }: PlaneOwner, planes: Shared['planes']): MemoryPlane | undefined {
  const plane = planes.get(name);
  if (plane?.isRecordDamaged) {
    const hint = 'restore it from a backup, or move the folder away and create the Cluster again';
    throw new HostingError('CorruptRecord', `the record of ${name} is damaged`, { where: name, hint });
  }
  if (plane && plane.spec.uid !== uid) {
    throw new HostingError('FolderNotOurs', `${name} belongs to another Cluster`, { where: name });
  }
  return plane;
}

function requireStart({ isPortTaken, data, lostKeys, spec: { name } }: MemoryPlane): void {
  const hint = 'stop that program, or restore what is lost from a backup';
  if (data === 'Other') throw new HostingError('DataNotOurs', `data of another etcd`, { where: name, hint });
  if (lostKeys.size > 0) throw keysLost(name);
  if (isPortTaken) {
    throw new HostingError('PortInUse', 'port 1 of etcd is in use', { where: '127.0.0.1:1', hint });
  }
}

function prepare(spec: PlaneSpec, { planes, log, next, now }: Shared, { isDiskFull }: Surroundings): void {
  const found = own(spec, planes);
  if (isDiskFull) {
    throw new OsError('DiskFull', 'the disk is full', { where: spec.name, hint: 'free some space' });
  }
  if (!found) requireAllowed(spec.outside);
  const plane = found ?? memoryPlane(spec, `ca-${next('authority')}`, now());
  plane.host = spec.outside?.host;
  if (plane.isDestroying) return;
  if (plane.lostKeys.size > 0) throw keysLost(spec.name);
  issueLeaves(plane, now(), () => `${next('serial')}`);
  if (found) return;
  log.push(`prepare ${spec.name}`);
  planes.set(spec.name, plane);
}

function observe(spec: PlaneSpec, parts: Shared, surroundings: Surroundings): PlaneReport {
  const { planes, place } = parts;
  const shared = {
    where: `memory:${spec.name}`,
    location: `${place}:${spec.name}`,
    programs: programsOf(surroundings),
  };
  const plane = planes.get(spec.name);
  if (plane?.isRecordDamaged) own(spec, planes);
  if (plane) plane.host = spec.outside?.host;
  if (plane?.spec.uid === spec.uid) return { ...shared, ...reportPlane(plane, spec, parts) };
  const members = MEMBERS.map((member) => stoppedMember(member));
  return { ...shared, ...NO_PLANE, claim: plane ? 'Other' : 'None', members };
}

const NO_PLANE = {
  isPrepared: false,
  isDestroying: false,
  settled: undefined,
  differences: [],
  data: 'Empty',
  lostKeys: [],
  certificates: [],
} as const;

type OwnReport = Omit<PlaneReport, 'where' | 'location' | 'programs'>;

function reportPlane(plane: MemoryPlane, spec: PlaneSpec, { now, faults, backups }: Shared): OwnReport {
  const { isDestroying, isOpen, lostKeys } = plane;
  const members = membersOf(plane).map((member) => reportMember(plane, member, faults));
  return {
    claim: 'Own',
    isPrepared: !isOpen && !isSyncDamaged(plane),
    isDestroying,
    data: plane.data,
    etcd: listOf(plane),
    lostKeys: [...lostKeys].map(([name, problem]) => `${name} ${problem}`),
    certificates: memoryCertificates(plane, now()),
    ...optional('snapshotAt', plane.snapshotAt),
    backup: reportBackups(backups, plane),
    ...optional('space', plane.space),
    settled: plane.settled,
    differences: settledDifferences(plane.settled, spec),
    ...optional('rotation', rotationReport(plane, members)),
    ...optional('authorities', plane.signed),
    ...optional('outside', plane.outside),
    members,
  };
}

function isSyncDamaged({ leaves }: MemoryPlane): boolean {
  return leaves.get('sync')?.problem === 'it is damaged';
}

function keysLost(where: string): HostingError {
  return new HostingError('KeysLost', `keys of ${where} are lost`, {
    where,
    hint: 'restore them from a backup',
  });
}

function programsOf({ programs }: Surroundings): PlaneReport['programs'] {
  if (programs === undefined) return PROGRAMS;
  if (programs instanceof Error) return { problem: programs.message, isLoading: false };
  return { versions: [{ kubernetes: programs, etcd: 'v3.6.0' }] };
}
