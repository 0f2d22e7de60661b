/** A condition of the Node or the Machine. How long it stands there is told by our own clock. */
import { QUALIFIED_NAME } from '../../api/patterns.ts';
import { type FactKind, fieldsOf, oneOf, paramsOf, rate, seconds, text } from './fact.ts';

export const condition: FactKind = {
  name: 'condition',
  source: 'conditions of the Node and the Machine, by our own clock',
  // Two heartbeats of node-problem-detector, which come every 5 minutes, and one minute for the way.
  maxAge: { seconds: 660 },
  params: paramsOf({ type: { type: 'text', pattern: QUALIFIED_NAME, max: 316 } }),
  fields: fieldsOf({
    status: oneOf(['True', 'False', 'Unknown']),
    reason: text,
    observedSeconds: seconds,
    heartbeatAgeSeconds: seconds,
    transitionsPerHour: rate,
  }),
};
