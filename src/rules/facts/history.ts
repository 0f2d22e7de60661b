/** Earlier repairs of this machine, counted from its jobs. */
import type { JobOutcome } from '../../api/generated/types.ts';
import { AVAILABLE_STEPS } from '../../api/steps/steps.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import {
  COUNT_FIELD,
  createEnumField,
  createFields,
  createParams,
  type FactKind,
  SECONDS_FIELD,
} from './field.ts';
import { countInWindow } from './reading/window.ts';

/** The longest window: jobs of a month. */
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
const outcome = createEnumField(Object.keys(CLASSES) as JobOutcome['class'][]);

export const historyFact = {
  name: 'history',
  source: 'the RemedyOperationJobs of the machine',
  maxAge: 'OurWatch',
  params: createParams({
    action: { type: 'choice', values: AVAILABLE_STEPS },
    windowSeconds: { type: 'seconds', max: MONTH },
  }),
  fields: createFields({ count: COUNT_FIELD, lastAgeSeconds: SECONDS_FIELD, lastOutcome: outcome }),
  observed: {
    entry: createFields({ action: createEnumField(AVAILABLE_STEPS), ageSeconds: SECONDS_FIELD, outcome }),
    read: (entries, params, reachSeconds) => {
      const same = entries.filter((entry) => entry['action'] === params['action']);
      const window = countInWindow(same, params, reachSeconds);
      if (!window) return UNKNOWN_READING;
      // A running job has no outcome: then the last outcome is unknown, not that of the job before.
      const last = window.inside[0]?.['outcome'];
      return last === undefined ? window.reading : { ...window.reading, lastOutcome: last };
    },
  },
} satisfies FactKind;
