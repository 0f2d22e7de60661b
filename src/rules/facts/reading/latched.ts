/** Explains why a fault that a detector never clears does not prove that the fault exists now. Pure. */
import { isFaultStatus, parseTime } from '../../../api/machine/node-state.ts';
import type { TimedCondition } from '../../clocks/condition-clock.ts';
import { detectorBehavior } from '../../detectors.ts';
import type { NodeSnapshot } from './snapshot.ts';

/** Returns why the fault proves nothing; undefined if it was raised in this boot, and after the last repair. */
export function latchedReason(
  type: string,
  observed: TimedCondition,
  snapshot: Pick<NodeSnapshot, 'conditions' | 'machine' | 'jobEndedMs'>,
): string | undefined {
  const { from, status } = observed;
  if (from === 'Machine' || detectorBehavior(type) === 'SelfClearing') return undefined;
  if (!isFaultStatus(type, status)) return undefined;
  const raised = `condition ${type} does not clear by itself and was raised before`;
  if (isOfEarlierBoot(observed, snapshot)) return `${raised} the last boot`;
  return isBefore(beganMs(observed), snapshot.jobEndedMs) ? `${raised} the last repair ended` : undefined;
}

/**
 * Returns when a fault began. One that existed before this process observed it began when its writer wrote so: another process
 * may have repaired it since.
 */
function beganMs({ sinceMs, completeMs, transitions }: TimedCondition): number {
  return transitions === 0 ? Math.min(sinceMs, completeMs) : sinceMs;
}

function isOfEarlierBoot(
  { sinceMs, transitionTime }: TimedCondition,
  { conditions, machine }: Pick<NodeSnapshot, 'conditions' | 'machine'>,
): boolean {
  // Both by the clock of the node. A detector that reads the log of an earlier boot has the times of its lines.
  const raised = parseTime(transitionTime)?.getTime();
  const booted = parseTime(machine?.status?.facts?.bootedAt)?.getTime();
  return isBefore(raised, booted) || isBefore(sinceMs, conditions?.bootedMs);
}

function isBefore(first: number | undefined, second: number | undefined): boolean {
  return first !== undefined && second !== undefined && first < second;
}
