/** What was done to this machine before, counted from its jobs. */
import type { JobOutcome } from '../../api/generated/types.ts';
import { AVAILABLE_STEPS } from '../../api/steps/steps.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import { count, type FactKind, fieldsOf, oneOf, paramsOf, seconds } from './fact.ts';
import { windowOf } from './window.ts';

/** Jobs of a month: more would be kept for no rule. */
const MONTH = 2_592_000;

const CLASSES: Readonly<Record<JobOutcome['class'], true>> = {
  Succeeded: true,
  Transient: true,
  Permanent: true,
  Ambiguous: true,
  Superseded: true,
  Cancelled: true,
  HandedOff: true,
};
const outcome = oneOf(Object.keys(CLASSES));

export const history: FactKind = {
  name: 'history',
  source: 'the RemedyOperationJobs of the machine',
  maxAge: 'OurWatch',
  params: paramsOf({
    action: { type: 'choice', values: AVAILABLE_STEPS },
    windowSeconds: { type: 'seconds', max: MONTH },
  }),
  fields: fieldsOf({ count, lastAgeSeconds: seconds, lastOutcome: outcome }),
  observed: {
    entry: fieldsOf({ action: oneOf(AVAILABLE_STEPS), ageSeconds: seconds, outcome }),
    read: (entries, params, reachSeconds) => {
      const same = entries.filter((entry) => entry['action'] === params['action']);
      const window = windowOf(same, params, reachSeconds);
      if (!window) return UNKNOWN_READING;
      // A job that still runs has no outcome: then the last outcome is unknown, not that of the one before.
      const last = window.inside[0]?.['outcome'];
      return last === undefined ? window.reading : { ...window.reading, lastOutcome: last };
    },
  },
};
