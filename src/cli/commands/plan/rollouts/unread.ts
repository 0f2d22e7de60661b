/** What a plan shows of machines where no cluster was read. Pure. */
import type { TargetPreview } from '../../../../sync/preview/preview.ts';
import { ROLLOUT_KINDS } from './fleet.ts';

/** A comparison of commits that changes sets, versions or machines: what that means for machines is known only to their cluster. */
export function withUnreadMachines(target: TargetPreview): TargetPreview {
  const { by, units, rollouts, because = 'nothing live was read' } = target;
  const changes = units.flatMap((unit) => unit.changes);
  const isConcerned = changes.some(({ object }) =>
    ROLLOUT_KINDS.some((kind) => object.startsWith(`${kind.group}/${kind.kind} `)),
  );
  if (by !== 'commits' || rollouts || !isConcerned) return target;
  return { ...target, rollouts: { state: 'Unknown', because } };
}
