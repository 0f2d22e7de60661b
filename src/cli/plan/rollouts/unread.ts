/** Decides what a plan shows of machines where no cluster was read. Pure. */
import type { TargetPreview } from '../../../sync/preview/preview.ts';
import { ROLLOUT_KINDS } from './fleet.ts';

/**
 * Marks the rollouts of a comparison of commits as unknown if it changes sets, versions or machines: only their cluster knows what that
 * means for machines.
 */
export function withUnreadMachines(target: TargetPreview): TargetPreview {
  const { by, units, rollouts, because = 'nothing live was read' } = target;
  const changes = units.flatMap((unit) => unit.changes);
  const isConcerned = changes.some(({ object }) =>
    ROLLOUT_KINDS.some((kind) => object.startsWith(`${kind.group}/${kind.kind} `)),
  );
  if (by !== 'commits' || rollouts || !isConcerned) return target;
  return { ...target, rollouts: { state: 'Unknown', because } };
}
