/** The members of an etcd in memory that has several: what each has in its folder, and the list that they agree on. */
import { planeData } from '../../../../src/controllers/hosting/drivers/data.ts';
import {
  type DataState,
  ETCD_MEMBERS,
  type EtcdMember,
  isEtcdMember,
  type ListedMember,
  MEMBERS,
  type PlaneDriver,
  type PlaneMember,
  type PlaneOwner,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import { majorityOf } from '../../../../src/controllers/hosting/plan/etcd/quorum.ts';
import { gatewaysOf } from './outside.ts';
import type { MemoryPlane } from './plane.ts';
import { isServerMember, serversOf } from './servers.ts';

export interface MemoryEtcdMember {
  data: DataState;
  listed?: { isLearner: boolean; isStarted: boolean } | undefined;
}

export function etcdMembersOf({ spec }: MemoryPlane): readonly EtcdMember[] {
  return ETCD_MEMBERS.slice(0, spec.settings.etcdReplicas ?? 1);
}

export function membersOf(plane: MemoryPlane): readonly PlaneMember[] {
  const others = MEMBERS.filter((member) => !isEtcdMember(member) && !isServerMember(member));
  return [...etcdMembersOf(plane), ...serversOf(plane), ...others, ...gatewaysOf(plane)];
}

export function etcdMember(plane: MemoryPlane, member: EtcdMember): MemoryEtcdMember {
  const found = plane.etcd.get(member) ?? { data: 'Empty' };
  plane.etcd.set(member, found);
  return found;
}

/** Returns the list. Undefined: there is one member, or no majority of those that count for it runs. */
export function listOf(plane: MemoryPlane): readonly ListedMember[] | undefined {
  const members = etcdMembersOf(plane);
  if (members.length === 1) return undefined;
  const listed = members.flatMap((member) => {
    const entry = plane.etcd.get(member)?.listed;
    return entry ? [{ member, ...entry }] : [];
  });
  const voters = listed.filter(({ isLearner }) => !isLearner);
  const running = voters.filter(({ member }) => plane.running.has(member));
  return voters.length > 0 && running.length >= majorityOf(voters.length) ? listed : undefined;
}

/** Throws where a member without data would begin another etcd. */
export function requireJoin(plane: MemoryPlane, member: PlaneMember): void {
  if (etcdMembersOf(plane).length === 1 || !isEtcdMember(member)) return;
  const own = etcdMember(plane, member);
  const isFirst = etcdMembersOf(plane).every((each) => etcdMember(plane, each).data === 'Empty');
  const joins = listOf(plane)?.some((each) => each.member === member && !each.isStarted) === true;
  if (own.data !== 'Empty' || joins || (isFirst && member === 'etcd')) return;
  throw refused(member, 'has no data, and is not a new member');
}

/** A member that runs writes its data: the first one begins the etcd, and each other one joins it. */
export function liveEtcd(plane: MemoryPlane, member: EtcdMember): void {
  if (etcdMembersOf(plane).length === 1) return;
  const own = etcdMember(plane, member);
  if (plane.running.has(member) && own.data === 'Empty' && own.listed?.isStarted !== true) {
    own.data = 'Own';
    own.listed = { isLearner: own.listed !== undefined, isStarted: true };
  }
  plane.data = planeData(etcdMembersOf(plane).map((each) => etcdMember(plane, each).data));
}

/** Gives the first member the data of a backup. Returns whether no member had any. */
export function restoreEtcd(plane: MemoryPlane): boolean {
  const members = etcdMembersOf(plane);
  if (members.some((each) => plane.etcd.get(each)?.data === 'Own')) return false;
  if (members.length === 1) plane.data = 'Own';
  else plane.etcd.set('etcd', { data: 'Own', listed: { isLearner: false, isStarted: true } });
  return true;
}

type EtcdActs = Pick<PlaneDriver, 'addEtcdMember' | 'promoteEtcdMember' | 'removeEtcdMember'>;

export function memoryEtcdActs(own: (owner: PlaneOwner) => MemoryPlane | undefined, log: string[]): EtcdActs {
  const act = (owner: PlaneOwner, member: EtcdMember, work: (own: MemoryEtcdMember) => boolean): void => {
    const plane = own(owner);
    if (!plane || plane.isDestroying) return;
    if (!listOf(plane)) throw refused(member, 'is in an etcd without a majority');
    if (work(etcdMember(plane, member))) plane.starts.delete(member);
  };
  return {
    addEtcdMember: async (owner, member) =>
      act(owner, member, (found) => {
        if (found.listed) return false;
        found.listed = { isLearner: true, isStarted: false };
        log.push(`add ${owner.name} ${member}`);
        return true;
      }),
    promoteEtcdMember: async (owner, member) =>
      act(owner, member, (found) => {
        if (!found.listed?.isLearner) return false;
        found.listed = { ...found.listed, isLearner: false };
        log.push(`promote ${owner.name} ${member}`);
        return false;
      }),
    removeEtcdMember: async (owner, member) =>
      act(owner, member, (found) => {
        if (found.data !== 'Empty') throw refused(member, 'has data');
        if (!found.listed) return false;
        found.listed = undefined;
        log.push(`remove-member ${owner.name} ${member}`);
        return false;
      }),
  };
}

function refused(member: EtcdMember, why: string): HostingError {
  return new HostingError('EtcdRefused', `${member} ${why}`, { where: member });
}
