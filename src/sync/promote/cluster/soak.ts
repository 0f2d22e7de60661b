/** The soak of a cluster's target: one clock for each unit that has to soak. The arithmetic is in rollout/soak-clock.ts. Pure. */
import type { ClusterSoak, SoakClock } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { excludeGap } from '../../../rollout/soak-clock.ts';
import { EMPTY_TARGET, type TargetDigests } from '../../commits.ts';

/** More units than this share one clock, so that the status stays bounded. */
const MAX_CLOCKS = 64;
export const ALL_UNITS = '*';

/** Units that are soaking already with the same digest keep their clocks: a new commit neither restarts nor skips their soak. */
export function startSoak(
  target: TargetDigests,
  units: readonly string[],
  before: ClusterSoak | undefined,
  now: Date,
): ClusterSoak {
  const clocks = clocksFor(target, units).flatMap(({ unit, digest }) => {
    const running = before?.clocks?.find((clock) => clock.unit === unit && clock.digest === digest);
    return running ?? [];
  });
  const observedAt = clocks.length > 0 ? before?.observedAt : undefined;
  return { startedAt: now.toISOString(), clocks, ...optional('observedAt', observedAt) };
}

/**
 * The same target from the start: after a failure, or after too many inconclusive checks. The time of the last run of each
 * check stays, so that a check is not run again at once.
 */
export function restartSoak({ startedAt, provenAt, gates = [] }: ClusterSoak): ClusterSoak {
  const runTimes = gates.map(({ name, ranAt }) => ({ name, ...optional('ranAt', ranAt) }));
  return {
    ...optional('startedAt', startedAt),
    ...optional('provenAt', provenAt),
    clocks: [],
    gates: runTimes,
  };
}

/** Everything was observed applied and healthy at that moment. */
export function recordHealthy(
  soak: ClusterSoak,
  target: TargetDigests,
  units: readonly string[],
  at: Date,
): ClusterSoak {
  const running = excludeGap(soak, at);
  const clocks = clocksFor(target, units).map(
    (needed) =>
      running.clocks?.find((clock) => clock.unit === needed.unit && clock.digest === needed.digest) ?? {
        ...needed,
        since: at.toISOString(),
      },
  );
  const settledAt = running.settledAt ?? at.toISOString();
  return { ...running, settledAt, observedAt: at.toISOString(), clocks };
}

function clocksFor({ digest, units }: TargetDigests, toSoak: readonly string[]): Omit<SoakClock, 'since'>[] {
  if (toSoak.length > MAX_CLOCKS || toSoak.includes(ALL_UNITS)) return [{ unit: ALL_UNITS, digest }];
  return toSoak.map((unit) => ({ unit, digest: units.get(unit) ?? EMPTY_TARGET.digest }));
}
