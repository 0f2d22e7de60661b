/** The driver of control planes in memory: it fulfills the same contract as that of processes. */
import {
  MEMBERS,
  type MemberReport,
  type PlaneDriver,
  type PlaneMember,
  type PlaneOwner,
  type PlaneReport,
  type PlaneSpec,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../src/controllers/hosting/errors.ts';
import type { ClusterInside, InsideReport } from '../../../src/controllers/hosting/inside/execute.ts';
import { readyMember, stoppedMember, VERSION } from './objects.ts';

interface MemoryPlane {
  readonly spec: PlaneSpec;
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
  /** How many authorities were made. */
  readonly authorities: () => number;
}

export function memoryHosting(now: () => Date, place = 'memory'): MemoryHosting {
  const planes = new Map<string, MemoryPlane>();
  const log: string[] = [];
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
    return plane.running.has(member) ? readyMember(member, { starts }) : stoppedMember(member, { starts });
  };

  const observe = (spec: PlaneSpec): PlaneReport => {
    const plane = planes.get(spec.name);
    const isOwn = plane?.spec.uid === spec.uid;
    const shared = {
      where: `memory:${spec.name}`,
      location: `${place}:${spec.name}`,
      programs: { version: VERSION },
    };
    if (!plane || !isOwn) {
      const nothing = { isPrepared: false, isDestroying: false, version: undefined, differences: [] };
      const stopped = MEMBERS.map((member) => stoppedMember(member));
      return { ...shared, ...nothing, claim: plane ? 'Other' : 'None', members: stopped };
    }
    const differences = plane.spec.version === spec.version ? [] : ['version'];
    const members = MEMBERS.map((member) => reportMember(plane, member));
    const { isDestroying } = plane;
    const { version } = plane.spec;
    return { ...shared, claim: 'Own', isPrepared: true, isDestroying, version, differences, members };
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
      log.push(`start ${spec.name} ${member}`);
    },
    stop: async (owner, member) => {
      if (own(owner)?.running.delete(member)) log.push(`stop ${owner.name} ${member}`);
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
  return { driver, inside: memoryInside(planes, log), planes, log, authorities: () => authorities };
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
