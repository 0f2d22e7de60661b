/** Whether a kubelet has to be restarted because its Node is missing: it registers the Node when it starts, and never again. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import type { ProcessRecord } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import type { ComponentInput } from '../input.ts';

/** A person who deleted the Node may be about to stop the machine. */
const DELETED_MS = 30_000;
/** A kubelet that started without a Node registers it within seconds, when it can. */
const STARTED_MS = 10 * 60_000;

/** Completes the sentence that begins with the unit; undefined: nothing is to be done. */
export function unregistered(
  { brakes: { nodeMissingSince: since }, now }: Pick<ComponentInput, 'brakes' | 'now'>,
  { identity }: Pick<Target, 'identity'>,
  { at }: Pick<ProcessRecord, 'at'>,
): string | undefined {
  if (!since || identity !== 'Kubelet') return undefined;
  const started = new Date(at);
  if (started < since) {
    const isDue = now.getTime() - since.getTime() >= DELETED_MS;
    return isDue ? `started before the Node was deleted (${since.toISOString()})` : undefined;
  }
  const isDue = now.getTime() - started.getTime() >= STARTED_MS;
  return isDue ? `runs since ${at} and has not registered its Node` : undefined;
}

/** Returns since when the Machine has no Node. Undefined while it has one, while that is unknown, and while the Machine is deleted. */
export function nodeMissingSince(machine: Machine | undefined): Date | undefined {
  if (machine?.metadata.deletionTimestamp !== undefined) return undefined;
  const ready = conditionOf(machine?.status?.conditions, 'NodeReady');
  const isMissing = ready?.status === 'False' && ready.reason === 'NodeMissing';
  return isMissing ? new Date(ready.lastTransitionTime) : undefined;
}
