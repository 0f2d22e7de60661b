/** Reads what runs on the node: whether a repair would stop a gang, lose local data, or disturb a Pod that asks to be left alone. */
import type { FactKind } from './fact.ts';
import { BOOLEAN_FIELD, COUNT_FIELD, createFields, createParams } from './field.ts';
import { knownAnswer, type ReadFact, tooOldReason, unknownAnswer } from './reading/answer.ts';

const fields = createFields({
  gangPresent: BOOLEAN_FIELD,
  localData: BOOLEAN_FIELD,
  blockers: COUNT_FIELD,
});

const read: ReadFact = (snapshot, _, maxAgeMs) => {
  const { known, againMs } = snapshot.workload();
  if (typeof known === 'string') return unknownAnswer(known);
  const { answer, ageMs } = known;
  const problem = tooOldReason('the Pods of the node', ageMs, maxAgeMs);
  if (problem !== undefined) return { ...unknownAnswer(problem), changesInMs: againMs };
  if ('problem' in answer) {
    return {
      ...unknownAnswer(`the Pods of the node cannot be read: ${answer.problem}`),
      changesInMs: againMs,
    };
  }
  return knownAnswer(fields, { ...answer }, againMs);
};

export const workloadFact = {
  name: 'workload',
  source: 'the Pods of the node, which are read when a gate asks for them',
  maxAge: { seconds: 60 },
  heartbeats: [],
  params: createParams({}),
  fields,
  read,
  // The reader of Pods reports its changes itself.
  changes: {},
  onlyInGate: 'Pods are read for a node that has a fault',
  recorded: {},
} satisfies FactKind;
