/** Keeps how much is left of one limit while a plan is made: raising a share takes of it, and lowering one gives back only later. */
import { committed } from './committed.ts';
import type { FleetInput, LimitOfFleet, LinkedCluster } from './fleet.ts';

export interface UnmetRequest {
  readonly count: number;
  readonly since: Date;
}

export interface ShareRoom {
  readonly limit: LimitOfFleet;
  /** Shares that are counted, by cluster. */
  readonly counted: ReadonlyMap<string, number>;
  /** Requests that found no room, the oldest first. */
  readonly unmet: readonly UnmetRequest[];
  /** How much is counted over all clusters: groups with a share, or acts. */
  total(): number;
  /** Raises the share of a cluster from `from` towards `to`, as far as there is room. Returns what it may have. */
  raise(cluster: LinkedCluster, from: number, to: number): number;
  /** Keeps everything that is free, or becomes free, for a request that came first. */
  reserve(request: UnmetRequest): void;
}

export function createRoom(limit: LimitOfFleet, { clusters, ...moment }: FleetInput): ShareRoom {
  const selected = clusters.filter((cluster) => limit.selects(cluster));
  const counted = new Map(selected.map((each) => [each.name, committed(limit, each, moment)]));
  const groups = new Map(selected.map((each) => [each.name, limit.groupOf(each)]));
  const unmet: UnmetRequest[] = [];

  return {
    limit,
    counted,
    unmet,
    total,
    raise({ name }, from, to) {
      const left = limit.max - total();
      // A cluster that uses more than its share is counted, and gets no more while others wait or too much is in use.
      if (unmet.length > 0 || left < 0) return from;
      const present = counted.get(name) ?? 0;
      const most = limit.kind === 'Concurrency' && isInCountedGroup(name) ? to : present + left;
      const raised = Math.max(from, Math.min(to, most));
      counted.set(name, Math.max(present, raised));
      return raised;
    },
    reserve: (request) => void unmet.push(request),
  };

  function total(): number {
    if (limit.kind === 'Rate') return [...counted.values()].reduce((sum, share) => sum + share, 0);
    return new Set([...counted].flatMap(([name, share]) => (share > 0 ? (groups.get(name) ?? []) : []))).size;
  }

  /** In a region that is counted already, another cluster takes no more of a limit of regions. */
  function isInCountedGroup(name: string): boolean {
    const group = groups.get(name);
    return [...counted].some(([other, share]) => share > 0 && groups.get(other) === group);
  }
}
