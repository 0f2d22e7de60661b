/**
 * Counts what a cluster may use of a limit at this moment, whatever it has heard of us: the most of what was given, what it adopted and
 * what it reported to use. Only what is left of the limit may be given to others. Pure.
 */
import type { FleetAllowanceSpec, FleetLimitUse } from '../../api/generated/types.ts';
import type { FleetInput, LimitOfFleet, LinkedCluster } from './fleet.ts';

/** How much longer than stated an allowance may be valid: the clocks differ by at most half of it. */
export const MARGIN_SECONDS = 60;

type Moment = Pick<FleetInput, 'now' | 'takeover'>;

export function committed(limit: LimitOfFleet, cluster: LinkedCluster, moment: Moment): number {
  if (cluster.state === 'Unread') return unreadShare(limit, cluster, moment);
  if (cluster.state === 'Joining') {
    return Math.max(unreadShare(limit, cluster, moment), validShare(limit, cluster, moment.now));
  }
  if (cluster.state === 'CutOff') return cutOffShare(limit, cluster, moment);
  return cluster.state === 'Known' ? knownShare(limit, cluster, moment) : limit.floor;
}

function knownShare(limit: LimitOfFleet, cluster: LinkedCluster, { now }: Moment): number {
  const own = Math.max(validShare(limit, cluster, now), useOf(cluster, limit.id)?.used ?? 0);
  return hasValid(cluster, now) && knows(cluster, limit) ? own : Math.max(own, limit.floor);
}

/** An earlier process of the hub may have given it everything, until what it gave has ended. */
function unreadShare(limit: LimitOfFleet, cluster: LinkedCluster, { takeover, now }: Moment): number {
  const most = limit.kind === 'Concurrency' ? 1 : limit.max;
  const endMs = +takeover + (limit.allowanceSeconds + MARGIN_SECONDS) * 1000;
  return +now < endMs ? most : afterEnd(limit, cluster, { endMs, now });
}

function cutOffShare(limit: LimitOfFleet, cluster: LinkedCluster, { now }: Moment): number {
  const ends = [+cluster.since, ...validEnds(cluster).map((end) => end + MARGIN_SECONDS * 1000)];
  const endMs = Math.max(...ends);
  const used = useOf(cluster, limit.id)?.used ?? 0;
  const share = Math.max(validShare(limit, cluster, now), used);
  const isHeld = +now < endMs && knows(cluster, limit);
  return isHeld ? share : afterEnd(limit, cluster, { endMs, now });
}

/** The floor, and what was in use when the cluster was lost. It counts for a while only: a cluster may never come back. */
function afterEnd(
  limit: LimitOfFleet,
  cluster: LinkedCluster,
  { endMs, now }: { readonly endMs: number; readonly now: Date },
): number {
  if (+now >= endMs + limit.countSeconds * 1000) return 0;
  return Math.max(limit.floor, useOf(cluster, limit.id)?.used ?? 0);
}

/** The largest share of an allowance that may still be valid. */
function validShare({ id }: LimitOfFleet, cluster: LinkedCluster, now: Date): number {
  const { allowance, adoptable } = cluster;
  const written = [allowance?.spec, ...adoptable].filter(
    (spec) => spec !== undefined && mayHold(spec.until, now),
  );
  const shares = written.map((spec) => shareOf(spec, id));
  const { until } = allowance?.status ?? {};
  const adopted = until !== undefined && mayHold(until, now) ? useOf(cluster, id)?.share : 0;
  return Math.max(0, adopted ?? 0, ...shares);
}

export function mayHold(until: string, now: Date): boolean {
  return Date.parse(until) + MARGIN_SECONDS * 1000 > +now;
}

function validEnds({ allowance, adoptable }: LinkedCluster): readonly number[] {
  const ends = [allowance?.spec.until, allowance?.status?.until, ...adoptable.map(({ until }) => until)];
  return ends.flatMap((end) => (end === undefined ? [] : Date.parse(end)));
}

/** Whether the cluster keeps to an allowance that is valid beyond doubt. Otherwise it is at its floor, or about to be. */
export function hasValid({ allowance }: LinkedCluster, now: Date): boolean {
  const { until } = allowance?.status ?? {};
  return until !== undefined && Date.parse(until) > +now;
}

/** A limit that is new does not hold in a cluster that has not adopted it. */
function knows(cluster: LinkedCluster, { id }: LimitOfFleet): boolean {
  return useOf(cluster, id) !== undefined;
}

export function shareOf(spec: FleetAllowanceSpec | undefined, id: string): number {
  return spec?.limits.find((limit) => limit.id === id)?.share ?? 0;
}

export function useOf({ allowance }: LinkedCluster, id: string): FleetLimitUse | undefined {
  return allowance?.status?.limits?.find((use) => use.id === id);
}
