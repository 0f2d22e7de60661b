/** The value that a query of Prometheus has for the machine: what the metrics of a fleet tell, also of the past. */
import type { Pattern } from '../../api/patterns.ts';
import type { FactKind } from './fact.ts';
import { createFields, createParams, NUMBER_FIELD } from './field.ts';
import { knownAnswer, type ReadFact, tooOldReason, unknownAnswer } from './reading/answer.ts';

/** The label that tells which machine a sample is about: a Node has the name of its Machine. */
export const MACHINE_LABEL = 'node';

const QUERY: Pattern = {
  regex: '^[!-~]([ -~]*[!-~])?$',
  description: `one line of PromQL in ASCII, whose samples have the label ${MACHINE_LABEL}`,
};

const fields = createFields({ value: NUMBER_FIELD });

/** A query is asked while it is read: with a longer maximum age, too, it is read this often. */
const READ_AGAIN_MS = 300_000;

const read: ReadFact = (snapshot, params, maxAgeMs) => {
  const answer = readSample(snapshot, params, maxAgeMs);
  return { ...answer, changesInMs: Math.min(answer.changesInMs, READ_AGAIN_MS) };
};

const readSample: ReadFact = (snapshot, params, maxAgeMs) => {
  const known = snapshot.metric(String(params['query']));
  if (typeof known === 'string') return { ...unknownAnswer(known), changesInMs: maxAgeMs };
  const { sample, ageMs, problem } = known;
  const tooOld = tooOldReason('Prometheus', ageMs, maxAgeMs);
  if (tooOld !== undefined) {
    return {
      ...unknownAnswer(problem === undefined ? tooOld : `${tooOld}: ${problem}`),
      changesInMs: maxAgeMs,
    };
  }
  const leftMs = maxAgeMs - ageMs;
  if (typeof sample === 'string') return { ...unknownAnswer(sample), changesInMs: leftMs };
  return knownAnswer(fields, { value: sample }, leftMs);
};

export const metricFact = {
  name: 'metric',
  source: 'a Prometheus, which is asked every 30 seconds while a rule reads the query',
  maxAge: { seconds: 120 },
  heartbeats: [],
  params: createParams({ query: { type: 'text', pattern: QUERY, max: 1024 } }),
  fields,
  read,
  // The reader of metrics reports its changes itself.
  changes: {},
  recorded: {},
} satisfies FactKind;
