/** The API servers of a control plane in memory: one, or several behind balancers. */
import {
  API_SERVERS,
  type ApiServerAccess,
  BALANCERS,
  isApiServer,
  isBalancer,
  type MemberReport,
  type PlaneDriver,
  type PlaneMember,
  type PlaneOwner,
  type PlaneSpec,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import type { MemoryPlane } from './plane.ts';

export interface MemoryServers {
  count: number;
  hasBalancers: boolean;
  /** Whether the first one has the port of clients, although there are balancers. */
  isDirect: boolean;
}

export function memoryServers({ apiServers: count }: PlaneSpec): MemoryServers {
  return { count, hasBalancers: count > 1, isDirect: false };
}

export function serversOf({ servers: { count, hasBalancers } }: MemoryPlane): readonly PlaneMember[] {
  return [...(hasBalancers ? BALANCERS : []), ...API_SERVERS.slice(0, count)];
}

/** Throws where a program of others, or the API server that was the only one, has the port of clients. */
export function requirePort({ servers, running }: MemoryPlane, member: PlaneMember): void {
  if (!isBalancer(member) || !servers.isDirect || !running.has('kube-apiserver')) return;
  throw new HostingError('PortInUse', 'the port of clients is in use', { where: '127.0.0.1:1' });
}

/** Tells whether a client reaches an API server. */
export function isServing({ servers, running }: MemoryPlane): boolean {
  if (!servers.hasBalancers || servers.isDirect) return running.has('kube-apiserver');
  return API_SERVERS.some((each) => running.has(each)) && BALANCERS.some((each) => running.has(each));
}

/** Returns the API servers that a balancer finds ready. */
export function reachedBy({ running }: MemoryPlane, member: PlaneMember): Pick<MemberReport, 'reaches'> {
  return isBalancer(member) ? { reaches: API_SERVERS.filter((each) => running.has(each)) } : {};
}

export function serverAccess({ spec, servers }: MemoryPlane): readonly ApiServerAccess[] | undefined {
  if (!servers.hasBalancers) return undefined;
  const members = API_SERVERS.slice(0, servers.count);
  return members.map((member) => ({ member, admin: `${spec.name}/${member}` }));
}

export function memoryServerActs(
  own: (owner: PlaneOwner) => MemoryPlane | undefined,
  log: string[],
): Pick<PlaneDriver, 'setApiServers'> {
  return {
    setApiServers: async (owner, count) => {
      const plane = own(owner);
      if (!plane || plane.isDestroying || plane.servers.count === count) return;
      changeCount(plane, count);
      log.push(`servers ${owner.name} ${count}`);
    },
  };
}

function changeCount(plane: MemoryPlane, count: number): void {
  const { servers, running, spec } = plane;
  const left = API_SERVERS.slice(count).find((each) => running.has(each));
  if (left) throw new HostingError('NotStopped', `${left} runs`, { where: spec.name });
  for (const added of API_SERVERS.slice(servers.count, count)) {
    plane.starts.delete(added);
    plane.runs.delete(added);
  }
  if (!servers.hasBalancers) servers.isDirect = running.has('kube-apiserver');
  servers.hasBalancers = count > 1 || !servers.isDirect;
  servers.count = count;
}

/** An API server that has ended starts on a port of its own. */
export function liveServers({ servers, running }: MemoryPlane): void {
  if (!running.has('kube-apiserver')) servers.isDirect = false;
}

export function hasClientPort({ servers }: MemoryPlane, member: PlaneMember): boolean {
  return member === 'kube-apiserver' && servers.isDirect;
}

export function isServerMember(member: PlaneMember): boolean {
  return isApiServer(member) || isBalancer(member);
}
