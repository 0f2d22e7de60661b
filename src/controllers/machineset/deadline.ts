/** Decides when a set that waits needs a person. Pure. */
import type { MachineSet, Wait } from '../../api/generated/types.ts';

/** The waits without a deadline: a person decides when they end. */
const WITHOUT_DEADLINE: ReadonlySet<string> = new Set(['Paused']);

/**
 * Returns when a wait of a set needs a person. A set that is not paused waits until one of its machines may be deleted, or is:
 * each may take the time of its drain. A storm that takes longer does not end by itself either.
 */
export function scalingDeadline(
  { spec }: Pick<MachineSet, 'spec'>,
  waiting: Pick<Wait, 'reason' | 'since'> | undefined,
): Date | undefined {
  if (!waiting || WITHOUT_DEADLINE.has(waiting.reason)) return undefined;
  return new Date(Date.parse(waiting.since) + spec.template.deletion.drainTimeoutSeconds * 1000);
}
