/** A condition of the Node or the Machine. Its duration is measured by our own clock. */
import { QUALIFIED_NAME } from '../../api/patterns.ts';
import {
  createEnumField,
  createFields,
  createParams,
  type FactKind,
  RATE_FIELD,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';

export const conditionFact = {
  name: 'condition',
  source: 'conditions of the Node and the Machine, by our own clock',
  // Two heartbeats of node-problem-detector, one every 5 minutes, plus one minute of delay.
  maxAge: { seconds: 660 },
  params: createParams({ type: { type: 'text', pattern: QUALIFIED_NAME, max: 316 } }),
  fields: createFields({
    status: createEnumField(['True', 'False', 'Unknown']),
    reason: TEXT_FIELD,
    observedSeconds: SECONDS_FIELD,
    heartbeatAgeSeconds: SECONDS_FIELD,
    transitionsPerHour: RATE_FIELD,
  }),
} satisfies FactKind;
