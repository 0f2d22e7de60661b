/** Reads a condition: as old as the last sign of life of its writer. */

import { HOUR_MS, type TimedCondition } from '../../clocks/condition-clock.ts';
import { isKubeletCondition, isWrittenOnChange } from '../../detectors.ts';
import { conditionFact } from '../../facts/condition.ts';
import {
  type FactAnswer,
  knownAnswer,
  type ReadFact,
  tooOldReason,
  unknownAnswer,
} from '../../facts/reading/answer.ts';
import { latchedReason } from '../../facts/reading/latched.ts';
import type { NodeSnapshot } from '../../facts/reading/snapshot.ts';

export const readCondition: ReadFact = (snapshot, params, maxAgeMs) => {
  const type = String(params['type']);
  const { problems, conditions } = snapshot;
  const problem = problems.nodes ?? problems.machines;
  if (problem !== undefined) return unknownAnswer(problem);
  const observed = conditions?.types.get(type);
  if (!observed) return unknownAnswer(`neither Node nor Machine has condition ${type}`);
  const ageMs = writerAgeMs(type, observed, snapshot);
  const reason =
    tooOldReason(`the writer of condition ${type}`, ageMs, maxAgeMs) ??
    latchedReason(type, observed, snapshot);
  return reason === undefined ? answer(observed, snapshot, [ageMs, maxAgeMs]) : unknownAnswer(reason);
};

function answer(
  { status, reason, sinceMs, changesMs, completeMs }: TimedCondition,
  { point }: NodeSnapshot,
  [ageMs, maxAgeMs]: readonly [number, number],
): FactAnswer {
  const hourAgoMs = point.ms - HOUR_MS;
  const recent = changesMs.filter((ms) => ms > hourAgoMs);
  const isComplete = completeMs <= hourAgoMs;
  const values = {
    status,
    reason,
    observedSeconds: (point.ms - sinceMs) / 1000,
    heartbeatAgeSeconds: ageMs / 1000,
    transitionsPerHour: isComplete ? recent.length : undefined,
  };
  const nextMs = isComplete ? (recent[0] ?? Infinity) : completeMs;
  return knownAnswer(conditionFact, values, Math.min(maxAgeMs - ageMs, nextMs - hourAgoMs));
}

/** Since its writer last showed that it is alive. Zero for what is written on a change only: then our own watch is as current. */
export function writerAgeMs(
  type: string,
  { from, status, writtenMs }: TimedCondition,
  { point, kubeletAgeMs }: Pick<NodeSnapshot, 'point' | 'kubeletAgeMs'>,
): number {
  if (from === 'Machine' || isWrittenOnChange(type)) return 0;
  const writtenAgeMs = point.ms - writtenMs;
  if (!isKubeletCondition(type)) return writtenAgeMs;
  // Set by the node lifecycle controller. The heartbeat in it is that of a kubelet that is silent.
  return status === 'Unknown' ? 0 : Math.min(writtenAgeMs, kubeletAgeMs);
}
