/** Describes what a commit changes of the limits over clusters, and how these bound what the commit brings. Pure. */

export interface FleetLimitsPreview {
  /** The changes of FleetPolicies, in the order of their names. */
  readonly changes: readonly FleetPolicyChange[];
  /** The stops that hold after the commit for clusters of the plan. */
  readonly stops: readonly FleetStopPreview[];
  /** The limits that bound the rollouts of the plan. */
  readonly bounds: readonly FleetLimitBound[];
}

/** Changed: it is neither looser nor tighter in every case. */
export type FleetLimitEffect = 'Loosened' | 'Tightened' | 'Changed' | 'Stops' | 'Resumes';

export interface FleetPolicyChange {
  readonly policy: string;
  readonly effect: FleetLimitEffect;
  /** `clusters: max 3 → 5`. */
  readonly text: string;
}

export interface FleetStopPreview {
  readonly policy: string;
  readonly by: string;
  readonly reason: string;
  /** The clusters of the plan that it stops. */
  readonly clusters: number;
}

export interface FleetLimitBound {
  /** `<policy>/<limit>`. */
  readonly id: string;
  /** The counted things, and when: `clusters in work at once`. */
  readonly counts: string;
  readonly max: number;
  /** The least that the rollouts of the plan need: groups of clusters that are disturbed, or acts within the period. */
  readonly needed: number;
  /** How many groups the policy selects. Absent for a rate. */
  readonly total?: number;
  /** Clusters whose machines are not known: they may need more. */
  readonly unknownClusters: number;
  /** How many times groups have to follow each other at least. Absent for a rate. */
  readonly leastTurns?: number;
  /** The shortest time between the first and the last act. Absent for a limit of acts in work. */
  readonly leastSeconds?: number;
  /** The explanation for people. */
  readonly because: string;
}

/** Formats each change, stop and bound as one line. */
export function fleetLimitTexts(preview: FleetLimitsPreview | undefined): readonly string[] {
  if (!preview) return [];
  const { changes, stops, bounds } = preview;
  return [
    ...changes.map(({ policy, effect, text }) => `${EFFECTS[effect]} by FleetPolicy ${policy}: ${text}`),
    ...stops.map(
      ({ policy, by, reason, clusters }) =>
        `stopped by FleetPolicy ${policy} in ${countOfClusters(clusters)} of the plan, by ${by}: ${reason}`,
    ),
    ...bounds.map(({ because }) => because),
  ];
}

export function countOfClusters(count: number): string {
  return `${count} cluster${count === 1 ? '' : 's'}`;
}

const EFFECTS: Readonly<Record<FleetLimitEffect, string>> = {
  Loosened: 'loosened',
  Tightened: 'tightened',
  Changed: 'changed',
  Stops: 'stopped',
  Resumes: 'resumed',
};

/** Summarizes them for the head of a plan: a limit that is loosened, or a stop, is easily missed among objects. */
export function summarizeFleetLimits(preview: FleetLimitsPreview | undefined): string {
  const changes = preview?.changes ?? [];
  const parts = (['Loosened', 'Stops', 'Resumes'] as const).flatMap((effect) => {
    const count = changes.filter((change) => change.effect === effect).length;
    return count > 0 ? [`${count} ${EFFECTS[effect]}`] : [];
  });
  return parts.length > 0 ? `limits over clusters: ${parts.join(', ')}` : '';
}
