/** A condition of the Node or the Machine: as old as the last sign of life of its writer. Its duration is measured by our own clock. */
import { QUALIFIED_NAME } from '../../api/patterns.ts';
import { HOUR_MS, type TimedCondition } from '../clocks/condition-clock.ts';
import { hasEnded } from '../clocks/job-ends.ts';
import { isKubeletCondition, isWrittenOnChange } from '../detectors.ts';
import type { FactKind } from './fact.ts';
import {
  createEnumField,
  createFields,
  createParams,
  RATE_FIELD,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';
import {
  type FactAnswer,
  knownAnswer,
  type ReadFact,
  tooOldReason,
  unknownAnswer,
} from './reading/answer.ts';
import { isChanged } from './reading/changed.ts';
import { latchedReason } from './reading/latched.ts';
import { RECORDED_CONDITION } from './reading/recorded.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';

const fields = createFields({
  status: createEnumField(['True', 'False', 'Unknown']),
  reason: TEXT_FIELD,
  observedSeconds: SECONDS_FIELD,
  heartbeatAgeSeconds: SECONDS_FIELD,
  transitionsPerHour: RATE_FIELD,
});

const read: ReadFact = (snapshot, params, maxAgeMs) => {
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
  return knownAnswer(fields, values, Math.min(maxAgeMs - ageMs, nextMs - hourAgoMs));
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

export const conditionFact = {
  name: 'condition',
  source: 'conditions of the Node and the Machine, by our own clock',
  // Two heartbeats of node-problem-detector, one every 5 minutes, plus one minute of delay.
  maxAge: { seconds: 660 },
  heartbeats: ['Kubelet'],
  params: createParams({ type: { type: 'text', pattern: QUALIFIED_NAME, max: 316 } }),
  fields,
  read,
  // The clock of conditions tells which of them changed. These are changes of what their faults prove.
  changes: {
    machines: (before, after) => isChanged(before, after, 'status', 'facts', 'bootedAt'),
    jobs: hasEnded,
  },
  recorded: {
    nodes: { status: { conditions: RECORDED_CONDITION, nodeInfo: { bootID: true } } },
    machines: { status: { conditions: RECORDED_CONDITION, faults: true, facts: { bootedAt: true } } },
  },
} satisfies FactKind;
