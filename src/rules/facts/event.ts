/** Events of the Node with one reason, within a span of time. */
import { CONDITION_REASON } from '../../api/patterns.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import { count, type FactKind, fieldsOf, paramsOf, seconds, text } from './fact.ts';
import { windowOf } from './window.ts';

const DAY = 86_400;

export const event: FactKind = {
  name: 'event',
  source: 'Events of the Node',
  maxAge: { seconds: 120 },
  params: paramsOf({
    reason: { type: 'text', pattern: CONDITION_REASON, max: 128 },
    windowSeconds: { type: 'seconds', max: DAY },
  }),
  fields: fieldsOf({ count, lastAgeSeconds: seconds }),
  observed: {
    entry: fieldsOf({ reason: text, ageSeconds: seconds }),
    read: (entries, params, reachSeconds) => {
      const same = entries.filter((entry) => entry['reason'] === params['reason']);
      return windowOf(same, params, reachSeconds)?.reading ?? UNKNOWN_READING;
    },
  },
};
