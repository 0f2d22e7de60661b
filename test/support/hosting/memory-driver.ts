/** The driver of control planes in memory: it fulfills the same contract as that of processes. */
import {
  isRunMember,
  MEMBERS,
  type MemberReport,
  type MemberRun,
  type PlaneDriver,
  type PlaneMember,
  type PlaneOwner,
  type PlaneReport,
  type PlaneSpec,
  type SettledPlane,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import {
  EMULATED_VERSION,
  memberRuns,
  settledDifferences,
} from '../../../src/controllers/hosting/drivers/runs.ts';
import { HostingError } from '../../../src/controllers/hosting/errors.ts';
import type { ClusterInside, InsideReport } from '../../../src/controllers/hosting/inside/execute.ts';
import { canonicalJson } from '../../../src/kube/objects/digest.ts';
import { PROGRAMS, readyMember, stoppedMember } from './objects.ts';

interface MemoryPlane {
  readonly spec: PlaneSpec;
  settled: SettledPlane;
  readonly runs: Map<PlaneMember, MemberRun>;
  /** What each process was started with. */
  readonly processes: Map<PlaneMember, MemberRun | undefined>;
  snapshotAt?: Date;
  /** Made once: a second one would strand every client. */
  readonly authority: string;
  isDestroying: boolean;
  readonly running: Set<PlaneMember>;
  readonly starts: Map<PlaneMember, Date[]>;
  isInstalled: boolean;
  machines: string[];
  machineSets: string[];
}

export interface MemoryHosting {
  readonly driver: PlaneDriver;
  readonly inside: ClusterInside;
  readonly planes: Map<string, MemoryPlane>;
  /** The acts that changed something, in their order. */
  readonly log: string[];
  /** What programs do that have a fault, by member and version: `kube-apiserver v1.36.3`. */
  readonly faults: Map<string, 'crashes' | 'hangs'>;
  /** How many authorities were made. */
  readonly authorities: () => number;
}

export function memoryHosting(now: () => Date, place = 'memory'): MemoryHosting {
  const planes = new Map<string, MemoryPlane>();
  const log: string[] = [];
  const faults = new Map<string, 'crashes' | 'hangs'>();
  let authorities = 0;

  const own = ({ name, uid }: PlaneOwner): MemoryPlane | undefined => {
    const plane = planes.get(name);
    if (plane && plane.spec.uid !== uid) {
      throw new HostingError('FolderNotOurs', `${name} belongs to another Cluster`, { where: name });
    }
    return plane;
  };

  const reportMember = (plane: MemoryPlane, member: PlaneMember): MemberReport => {
    const starts = plane.starts.get(member) ?? [];
    const run = runOf(plane, member);
    if (!plane.running.has(member)) return stoppedMember(member, { starts, run });
    const process = plane.processes.get(member);
    const isOutdated = canonicalJson(process) !== canonicalJson(run);
    const shared = { starts, run, isOutdated, version: process?.version };
    const problem = faults.get(`${member} ${process?.version}`);
    if (problem === 'crashes') {
      plane.running.delete(member);
      return stoppedMember(member, { starts, run, logTail: '  | panic' });
    }
    return readyMember(member, { ...shared, ...(problem === 'hangs' ? { state: 'Starting' } : {}) });
  };

  const observe = (spec: PlaneSpec): PlaneReport => {
    const plane = planes.get(spec.name);
    const isOwn = plane?.spec.uid === spec.uid;
    const shared = {
      where: `memory:${spec.name}`,
      location: `${place}:${spec.name}`,
      programs: PROGRAMS,
    };
    if (!plane || !isOwn) {
      const nothing = { isPrepared: false, isDestroying: false, settled: undefined, differences: [] };
      const stopped = MEMBERS.map((member) => stoppedMember(member));
      return { ...shared, ...nothing, claim: plane ? 'Other' : 'None', members: stopped };
    }
    const differences = settledDifferences(plane.settled, spec);
    const members = MEMBERS.map((member) => reportMember(plane, member));
    const { isDestroying } = plane;
    const { settled, snapshotAt } = plane;
    const kept = { settled, ...(snapshotAt ? { snapshotAt } : {}) };
    return { ...shared, ...kept, claim: 'Own', isPrepared: true, isDestroying, differences, members };
  };

  const driver: PlaneDriver = {
    observe: async (spec) => observe(spec),
    prepare: async (spec) => {
      if (own(spec)) return;
      authorities += 1;
      const authority = `ca-${authorities}`;
      log.push(`prepare ${spec.name}`);
      const empty = { isInstalled: false, machines: [], machineSets: [] };
      const starts = new Map<PlaneMember, Date[]>();
      planes.set(spec.name, {
        spec,
        authority,
        isDestroying: false,
        running: new Set(),
        settled: { version: spec.version, etcdVersion: etcdOf(spec.version), settings: spec.settings },
        runs: new Map(),
        processes: new Map(),
        starts,
        ...empty,
      });
    },
    start: async (spec, member) => {
      const plane = own(spec);
      if (!plane) throw new HostingError('NotPrepared', `${spec.name} is not prepared`, { where: spec.name });
      if (plane.running.has(member) || plane.isDestroying) return;
      plane.starts.set(member, [...(plane.starts.get(member) ?? []), now()]);
      plane.running.add(member);
      plane.processes.set(member, runOf(plane, member));
      log.push(`start ${spec.name} ${member}`);
    },
    stop: async (owner, member) => {
      if (own(owner)?.running.delete(member)) log.push(`stop ${owner.name} ${member}`);
    },
    change: async (owner, member, run) => {
      const plane = own(owner);
      if (!plane || plane.isDestroying) return;
      plane.starts.delete(member);
      plane.runs.set(member, run);
      log.push(`change ${owner.name} ${member} to ${runText(run)}`);
      if (canonicalJson(plane.processes.get(member)) !== canonicalJson(run)) plane.running.delete(member);
    },
    snapshot: async (owner) => {
      const plane = own(owner);
      if (!plane) return;
      plane.snapshotAt = now();
      log.push(`snapshot ${owner.name}`);
    },
    settle: async (owner, settled) => {
      const plane = own(owner);
      if (!plane || canonicalJson(plane.settled) === canonicalJson(settled)) return;
      plane.settled = settled;
      log.push(`settle ${owner.name} ${settled.version}`);
    },
    beginDestroy: async (owner) => {
      const plane = own(owner);
      if (plane) plane.isDestroying = true;
    },
    remove: async (owner) => {
      const plane = own(owner);
      if (!plane) return;
      if (plane.running.size > 0) {
        throw new HostingError('NotStopped', `members of ${owner.name} run`, { where: owner.name });
      }
      planes.delete(owner.name);
      log.push(`remove ${owner.name}`);
    },
    access: async (owner) => {
      const plane = planes.get(owner.name);
      if (plane?.spec.uid !== owner.uid) return undefined;
      const { authority } = plane;
      return { server: 'https://127.0.0.1:1', admin: owner.name, sync: `sync ${owner.name} ${authority}` };
    },
  };
  const inside = memoryInside(planes, log);
  return { driver, inside, planes, log, faults, authorities: () => authorities };
}

function runOf({ runs, settled }: MemoryPlane, member: PlaneMember): MemberRun | undefined {
  return isRunMember(member) ? (runs.get(member) ?? memberRuns(settled)[member]) : undefined;
}

function etcdOf(version: string): string | undefined {
  return PROGRAMS.versions.find(({ kubernetes }) => kubernetes === version)?.etcd;
}

function runText({ version, flags }: MemberRun): string {
  const emulated = flags[EMULATED_VERSION];
  return emulated === undefined ? `${version}` : `${version} as ${emulated}`;
}

/** The kubeconfig of the administrator is the name of the cluster. */
function memoryInside(planes: ReadonlyMap<string, MemoryPlane>, log: string[]): ClusterInside {
  return {
    read: async (name): Promise<InsideReport> => {
      const plane = planes.get(name);
      if (!plane?.running.has('kube-apiserver')) throw new Error('connection refused');
      const controllersLead = plane.running.has('kubenode-controllers');
      return {
        isInstalled: plane.isInstalled,
        controllersLead,
        machines: plane.machines,
        machineSets: plane.machineSets,
      };
    },
    canary: async (name) =>
      planes.get(name)?.running.has('kube-apiserver') === true ? 'Passed' : { problem: 'connection refused' },
    install: async (name) => {
      const plane = planes.get(name);
      if (!plane || plane.isInstalled) return;
      plane.isInstalled = true;
      log.push(`install ${name}`);
    },
    scaleDown: async (name, sets) => {
      const plane = planes.get(name);
      if (!plane) return;
      plane.machineSets = plane.machineSets.filter((each) => !sets.includes(each));
      // Their controller deletes the machines, each with a grant.
      plane.machines = plane.machines.filter((machine) => !machine.startsWith('of-set'));
      log.push(`scale ${name} ${sets.join(' ')}`);
    },
  };
}
