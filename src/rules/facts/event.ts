/** Events of the Node with one reason, within a time window. */
import { CONDITION_REASON } from '../../api/patterns.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import {
  COUNT_FIELD,
  createFields,
  createParams,
  type FactKind,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';
import { countInWindow } from './reading/window.ts';

const DAY = 86_400;

export const eventFact = {
  name: 'event',
  source: 'Events of the Node',
  maxAge: { seconds: 120 },
  params: createParams({
    reason: { type: 'text', pattern: CONDITION_REASON, max: 128 },
    windowSeconds: { type: 'seconds', max: DAY },
  }),
  fields: createFields({ count: COUNT_FIELD, lastAgeSeconds: SECONDS_FIELD }),
  observed: {
    entry: createFields({ reason: TEXT_FIELD, ageSeconds: SECONDS_FIELD }),
    read: (entries, params, reachSeconds) => {
      const same = entries.filter((entry) => entry['reason'] === params['reason']);
      return countInWindow(same, params, reachSeconds)?.reading ?? UNKNOWN_READING;
    },
  },
} satisfies FactKind;
