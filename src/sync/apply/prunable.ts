/** Objects of ours that leave git but may not leave the cluster yet. Pure. */
import { GROUP } from '../../api/names.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

/** Why this object has to stay for now, or nothing. */
export function inUseReason(live: KubeObject): string | undefined {
  if (live.kind !== 'MachineComponent' || !live.apiVersion.startsWith(`${GROUP}/`)) return undefined;
  const used = listAt(live, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'InUse' && textAt(condition, 'status') === 'True',
  );
  if (!used) return undefined;
  const machines = valueAt(live, 'status', 'machines', 'current');
  return `still in use${typeof machines === 'number' ? ` by ${machines} machines` : ''}: kept until the last reference is gone`;
}
