/**
 * Plans the share of each cluster of each limit. The oldest request comes first, with all of its limits, so that two clusters never hold
 * what the other needs. Then every cluster gets a spare share, as long as there is room. A share that is not used is taken back for a request
 * first, and given in a later plan, when the cluster has adopted the lower one. Pure.
 */

import { hasValid, shareOf, useOf } from './committed.ts';
import { type FleetInput, fleetLimitsOf, type LimitOfFleet, type LinkedCluster } from './fleet.ts';
import { createRoom, type ShareRoom } from './room.ts';
import { shortClusterList } from './short-cluster-list.ts';

export interface FleetPlan {
  readonly limits: readonly LimitOfFleet[];
  /** The shares of each cluster that is served, by cluster and limit. */
  readonly shares: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly waiting: readonly FleetWait[];
  readonly rooms: readonly ShareRoom[];
}

export interface FleetWait {
  readonly cluster: string;
  readonly limit: string;
  readonly since: Date;
  readonly because: string;
}

interface RequestOfCluster {
  readonly cluster: LinkedCluster;
  readonly since: Date;
}

interface Draft {
  readonly now: Date;
  readonly clusters: readonly LinkedCluster[];
  readonly rooms: readonly ShareRoom[];
  readonly served: readonly LinkedCluster[];
  readonly requests: readonly RequestOfCluster[];
  readonly shares: Map<string, Map<string, number>>;
  readonly waiting: FleetWait[];
}

export function planShares(input: FleetInput): FleetPlan {
  const limits = fleetLimitsOf(input.policies);
  const served = input.clusters
    .filter(({ state }) => state === 'Known' || state === 'Joining')
    .toSorted(byName);
  const known = served.filter(({ state }) => state === 'Known');
  const requests = known.flatMap((each) => requestOf(each, input.now)).toSorted(bySince);
  const draft: Draft = {
    now: input.now,
    clusters: input.clusters,
    rooms: limits.map((limit) => createRoom(limit, input)),
    served,
    requests,
    shares: new Map(served.map((cluster) => [cluster.name, presentShares(cluster, limits, input.now)])),
    waiting: [],
  };
  for (const request of requests) serveRequest(draft, request);
  for (const room of draft.rooms) makeRoom(draft, room);
  for (const cluster of known) if (!isRequesting(draft, cluster)) giveSpare(draft, cluster);
  const { rooms, shares, waiting } = draft;
  return { limits, shares, waiting, rooms };
}

function byName(a: LinkedCluster, b: LinkedCluster): number {
  return a.name < b.name ? -1 : 1;
}

function bySince(a: RequestOfCluster, b: RequestOfCluster): number {
  return +a.since - +b.since || byName(a.cluster, b.cluster);
}

/** A Defender that renews nothing does not act either: its last report does not count. */
function requestOf(cluster: LinkedCluster, now: Date): readonly RequestOfCluster[] {
  const { requestedSince, isSkewed } = cluster;
  if (requestedSince === undefined || isSkewed || !hasValid(cluster, now)) return [];
  return [{ cluster, since: requestedSince }];
}

function isRequesting({ requests }: Draft, { name }: LinkedCluster): boolean {
  return requests.some(({ cluster }) => cluster.name === name);
}

/** Returns the shares that the cluster has now. One that has ended is not counted any more, and a clock that cannot be relied on has no spare. */
function presentShares(
  cluster: LinkedCluster,
  limits: readonly LimitOfFleet[],
  now: Date,
): Map<string, number> {
  const { allowance, isSkewed = false } = cluster;
  const spec = allowance && Date.parse(allowance.spec.until) > +now ? allowance.spec : undefined;
  const selected = limits.filter((limit) => limit.selects(cluster));
  return new Map(
    selected.map(({ id }) => [id, isSkewed ? (useOf(cluster, id)?.used ?? 0) : shareOf(spec, id)]),
  );
}

function serveRequest(draft: Draft, { cluster, since }: RequestOfCluster): void {
  for (const room of roomsOf(draft, cluster)) {
    const { limit } = room;
    const needed = neededShare(cluster, limit);
    const present = presentShare(draft, { cluster, limit });
    const share = room.raise(cluster, present, needed);
    setShare(draft, { cluster, limit }, share);
    if (share >= needed) continue;
    room.reserve({ count: 1, since });
    draft.waiting.push({ cluster: cluster.name, limit: limit.id, since, because: waitText(room, cluster) });
  }
}

/** One act at a time: then it is the turn of the next cluster, so that one with many requests does not get everything. */
function neededShare(cluster: LinkedCluster, { id, kind }: LimitOfFleet): number {
  return kind === 'Concurrency' ? 1 : (useOf(cluster, id)?.used ?? 0) + 1;
}

/** Takes back for requests that found no room. After git lowered a limit, more may be given than it allows, too. */
function makeRoom(draft: Draft, room: ShareRoom): void {
  const { limit, unmet, counted } = room;
  const excess = Math.max(0, room.total() - limit.max);
  const count = unmet.reduce((sum, request) => sum + request.count, excess);
  const isLoser = (each: LinkedCluster): boolean =>
    limit.selects(each) && !keeps(each, draft.now) && mayLose(draft, each, unmet[0]?.since);
  const losers = draft.served.filter(isLoser);
  if (limit.kind === 'Rate') takeActs(draft, { limit, counted, losers }, count);
  else takeGroups(draft, { limit, counted, losers }, count);
}

function keeps({ keepsUntil }: LinkedCluster, now: Date): boolean {
  return keepsUntil !== undefined && keepsUntil > now;
}

/** A cluster that began to request earlier keeps what it has: it may wait for another limit. */
function mayLose(draft: Draft, cluster: LinkedCluster, since: Date | undefined): boolean {
  const request = draft.requests.find((each) => each.cluster.name === cluster.name);
  return request === undefined || (since !== undefined && request.since > since);
}

interface Losers {
  readonly limit: LimitOfFleet;
  readonly counted: ReadonlyMap<string, number>;
  readonly losers: readonly LinkedCluster[];
}

/** Lowers shares to what is used. Shares that an earlier plan lowered become free, too, once that is adopted. */
function takeActs(draft: Draft, { limit, counted, losers }: Losers, count: number): void {
  let open = count - losers.reduce((sum, cluster) => sum + onItsWay(draft, { cluster, limit }, counted), 0);
  for (const cluster of losers) {
    if (open <= 0) return;
    const used = useOf(cluster, limit.id)?.used ?? 0;
    const spare = Math.max(0, presentShare(draft, { cluster, limit }) - used);
    const taken = Math.min(spare, open);
    setShare(draft, { cluster, limit }, presentShare(draft, { cluster, limit }) - taken);
    open -= taken;
  }
}

function onItsWay(draft: Draft, share: Share, counted: Losers['counted']): number {
  const used = useOf(share.cluster, share.limit.id)?.used ?? 0;
  const remaining = Math.max(presentShare(draft, share), used);
  return Math.max(0, (counted.get(share.cluster.name) ?? 0) - remaining);
}

/**
 * Takes the share of whole groups, because a region is free only when none of its clusters has one. Groups at rest come first; of one
 * that is in work, acts in work go on and no other begins, so that no cluster waits for one that is never at rest.
 */
function takeGroups(draft: Draft, { limit, counted, losers }: Losers, count: number): void {
  const may = new Set(losers.map(({ name }) => name));
  // With those that are cut off: a region in which one is counted cannot be freed.
  const holders = draft.clusters.filter((each) => limit.selects(each) && (counted.get(each.name) ?? 0) > 0);
  const groups = [...Map.groupBy(holders, (each) => limit.groupOf(each)).values()];
  const isLeaving = (cluster: LinkedCluster): boolean => presentShare(draft, { cluster, limit }) === 0;
  const isServed = (clusters: readonly LinkedCluster[]): boolean =>
    clusters.every(({ name }) => draft.shares.has(name));
  const leaving = groups.filter((clusters) => isServed(clusters) && clusters.every(isLeaving));
  const takeable = groups.filter(
    (clusters) => !clusters.every(isLeaving) && clusters.every(({ name }) => may.has(name)),
  );
  const inWork = (clusters: readonly LinkedCluster[]): number =>
    clusters.reduce((sum, cluster) => sum + (useOf(cluster, limit.id)?.used ?? 0), 0);
  const chosen = takeable
    .toSorted((a, b) => inWork(a) - inWork(b))
    .slice(0, Math.max(0, count - leaving.length));
  for (const cluster of chosen.flat()) setShare(draft, { cluster, limit }, 0);
}

interface Share {
  readonly cluster: LinkedCluster;
  readonly limit: LimitOfFleet;
}

function presentShare({ shares }: Draft, { cluster, limit }: Share): number {
  return shares.get(cluster.name)?.get(limit.id) ?? 0;
}

function giveSpare(draft: Draft, cluster: LinkedCluster): void {
  if (cluster.isSkewed) return;
  for (const room of roomsOf(draft, cluster)) {
    const { limit } = room;
    const present = presentShare(draft, { cluster, limit });
    const spare = limit.kind === 'Concurrency' ? 1 : (useOf(cluster, limit.id)?.used ?? 0) + 1;
    if (present >= spare || isTakenBack(cluster, limit, present)) continue;
    setShare(draft, { cluster, limit }, room.raise(cluster, present, spare));
  }
}

/** Tells whether a share was taken back, and that is not adopted yet: it is not given back in the same moment. */
function isTakenBack({ allowance }: LinkedCluster, { id }: LimitOfFleet, present: number): boolean {
  const adopted = allowance?.status?.limits?.find((use) => use.id === id)?.share ?? 0;
  return present < shareOf(allowance?.spec, id) || present < adopted;
}

function roomsOf({ rooms }: Draft, cluster: LinkedCluster): readonly ShareRoom[] {
  return rooms.filter(({ limit }) => limit.selects(cluster));
}

function setShare({ shares }: Draft, { cluster, limit }: Share, share: number): void {
  shares.get(cluster.name)?.set(limit.id, share);
}

function waitText({ limit, counted }: ShareRoom, { name }: LinkedCluster): string {
  const holders = [...counted]
    .filter(([other, share]) => share > 0 && other !== name)
    .map(([other]) => other);
  return `at most ${limit.max} ${limit.per}; counted: ${shortClusterList(holders) || 'none'}`;
}
