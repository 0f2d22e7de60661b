/**
 * How long what a cluster was given has been seen healthy there. Pure. Only observed time counts: the clocks stand in
 * the cluster's status, and time in which nobody looked is taken out by moving them on.
 */
import type { ClusterSoak, SoakClock } from '../../../api/generated/types.ts';
import type { TargetDigests } from '../../commits.ts';
import { EMPTY_TARGET } from '../../commits.ts';
import { optional } from '../snapshot.ts';

/** Longer than this without a good observation, and the time between does not count. */
export const BLIND_MS = 120_000;
/** How often a running soak is written down: often enough that a restart loses no more than BLIND_MS forgives. */
export const WRITTEN_EVERY_MS = 60_000;
/** More units than this share one clock: the status stays bounded. */
const MAX_CLOCKS = 64;
export const ALL_UNITS = '*';

/**
 * The soak of a new target. Units that were soaking already, with the same digest, keep their clocks: a commit must
 * neither restart nor skip what runs.
 */
export function soakFor(
  target: TargetDigests,
  units: readonly string[],
  before: ClusterSoak | undefined,
  now: Date,
): ClusterSoak {
  const clocks = wantedClocks(target, units).flatMap(({ unit, digest }) => {
    const running = before?.clocks?.find((clock) => clock.unit === unit && clock.digest === digest);
    return running ?? [];
  });
  const observed = clocks.length > 0 ? before?.observedAt : undefined;
  return {
    startedAt: now.toISOString(),
    clocks,
    ...(observed === undefined ? {} : { observedAt: observed }),
  };
}

/**
 * The same target, from the beginning: after a failure, or when too many checks gave no answer. When each check last ran
 * is kept, so that one that fails at once is not asked again at once.
 */
export function soakAnew({ startedAt, gates = [] }: ClusterSoak): ClusterSoak {
  const asked = gates.map(({ name, ranAt }) => ({ name, ...optional('ranAt', ranAt) }));
  return { ...optional('startedAt', startedAt), clocks: [], gates: asked };
}

/** All of it was seen applied and healthy at that moment. */
export function seenHealthy(
  soak: ClusterSoak,
  target: TargetDigests,
  units: readonly string[],
  at: Date,
): ClusterSoak {
  const running = withoutBlindTime(soak, at);
  const clocks = wantedClocks(target, units).map(
    (wanted) =>
      running.clocks?.find((clock) => clock.unit === wanted.unit && clock.digest === wanted.digest) ?? {
        ...wanted,
        since: at.toISOString(),
      },
  );
  const settledAt = running.settledAt ?? at.toISOString();
  return { ...running, settledAt, observedAt: at.toISOString(), clocks };
}

/**
 * A gap moves the clocks on by its length. A wall clock that was set back moves everything: what had been soaked stays
 * soaked, and not a minute is added.
 */
function withoutBlindTime(soak: ClusterSoak, at: Date): ClusterSoak {
  if (soak.observedAt === undefined) return soak;
  const gap = +at - Date.parse(soak.observedAt);
  if (gap >= 0 && gap <= BLIND_MS) return soak;
  const clocks = (soak.clocks ?? []).map((clock) => ({ ...clock, since: moved(clock.since, gap) }));
  if (gap > 0) return { ...soak, clocks };
  return {
    ...soak,
    clocks,
    ...optional('settledAt', soak.settledAt && moved(soak.settledAt, gap)),
    gates: (soak.gates ?? []).map(({ ranAt, ...gate }) => {
      return { ...gate, ...optional('ranAt', ranAt && notAfter(moved(ranAt, gap), at)) };
    }),
  };
}

/**
 * Seen, and seen not to be good: the time until the next good look does not count, however short it is. Nothing but the
 * moment of the last good look can say so, so it is moved back, with the clocks, to where a gap is too long to count.
 */
export function stopped(soak: ClusterSoak, now: Date): ClusterSoak {
  if (soak.observedAt === undefined || +now - Date.parse(soak.observedAt) > BLIND_MS) return soak;
  const isAhead = Date.parse(soak.observedAt) > +now;
  const running = isAhead ? { ...withoutBlindTime(soak, now), observedAt: now.toISOString() } : soak;
  const observedAt = new Date(+now - BLIND_MS - 1).toISOString();
  const back = Date.parse(observedAt) - Date.parse(notAfter(soak.observedAt, now));
  const clocks = (running.clocks ?? []).map((clock) => ({ ...clock, since: moved(clock.since, back) }));
  return { ...running, clocks, observedAt };
}

function moved(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString();
}

/** What is written down may lie in the future of a clock that was set back. */
export function notAfter(moment: string, now: Date): string {
  return Date.parse(moment) > +now ? now.toISOString() : moment;
}

/** The moment at which the last unit has soaked, if nothing comes between. Undefined before the clocks run. */
export function soakedAt({ clocks, settledAt }: ClusterSoak, soakSeconds: number): Date | undefined {
  if (settledAt === undefined) return undefined;
  const starts = (clocks ?? []).map(({ since }) => Date.parse(since) + soakSeconds * 1000);
  return new Date(Math.max(Date.parse(settledAt), ...starts));
}

function wantedClocks(
  { digest, units }: TargetDigests,
  toSoak: readonly string[],
): Omit<SoakClock, 'since'>[] {
  if (toSoak.length > MAX_CLOCKS || toSoak.includes(ALL_UNITS)) return [{ unit: ALL_UNITS, digest }];
  return toSoak.map((unit) => ({ unit, digest: units.get(unit) ?? EMPTY_TARGET.digest }));
}
