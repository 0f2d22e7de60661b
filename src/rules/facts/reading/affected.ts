/**
 * Decides whether a machine is affected by a fault of one class: a rule of this class found it, or cannot decide, and waits; or a repair
 * of this class is at work or began within the window. Pure.
 */
import { DIMENSIONS, type Dimension, type FaultClass } from '../../../api/enums.ts';
import type { Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { ageSecondsAt, type TimePoint } from '../../clocks/time-point.ts';

export const WHOLE_CLUSTER = 'cluster';
export const SCOPES = [WHOLE_CLUSTER, ...DIMENSIONS] as const;

export interface AffectedQuery {
  readonly scope: typeof WHOLE_CLUSTER | Dimension;
  readonly faultClass: FaultClass;
  readonly windowSeconds: number;
}

export interface AffectedCounts {
  readonly affected: number;
  /** The machines that have the same value. */
  readonly total: number;
}

interface Asked {
  readonly query: Pick<AffectedQuery, 'faultClass' | 'windowSeconds'>;
  readonly point: TimePoint;
}

export function isAffected(
  { metadata, status }: Machine,
  jobs: readonly RemedyOperationJob[],
  { query, point }: Asked,
): boolean {
  const { faultClass, windowSeconds } = query;
  // A wait that an earlier version recorded has no class: it may be this one.
  const waits = status?.remedyWaits ?? [];
  if (waits.some((wait) => (wait.faultClass ?? faultClass) === faultClass)) return true;
  return jobs.some(
    ({ spec, status: ran }) =>
      spec.cause.faultClass === faultClass &&
      spec.machine.uid === metadata.uid &&
      (ran?.outcome === undefined || (ageSecondsAt(point, spec.grant.issuedAt) ?? 0) <= windowSeconds),
  );
}

/** Has the values of the fact. */
export interface AffectedShare {
  readonly affectedRatio: number;
  readonly affectedCount: number;
}

/**
 * Returns the highest ratio and the highest count, which may be of two groups: a machine has several component versions, and each may be
 * the cause. A version that few machines have hides no fault of one that most have. Undefined: the machine is in no group.
 */
export function worstShare(groups: readonly AffectedCounts[]): AffectedShare | undefined {
  if (groups.length === 0) return undefined;
  return {
    affectedRatio: Math.max(...groups.map(ratioOf)),
    affectedCount: Math.max(...groups.map(({ affected }) => affected)),
  };
}

function ratioOf({ affected, total }: AffectedCounts): number {
  return total === 0 ? 0 : affected / total;
}
