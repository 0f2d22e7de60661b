/** Earlier repairs of this machine: the steps of its jobs that began. */
import type { JobOutcome, RemedyOperationJob } from '../../api/generated/types.ts';
import { STEPS } from '../../api/steps/steps.ts';
import { optional } from '../../kube/objects/optional.ts';
import { hasStepBegun } from '../clocks/job-ends.ts';
import { ageSecondsAt, type TimePoint } from '../clocks/time-point.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import type { FactKind, ObservationType } from './fact.ts';
import {
  COUNT_FIELD,
  createEnumField,
  createFields,
  createParams,
  type Observation,
  SECONDS_FIELD,
} from './field.ts';
import { type ReadFact, unknownAnswer } from './reading/answer.ts';
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

const observed: ObservationType = {
  entry: createFields({ action: createEnumField(STEPS), ageSeconds: SECONDS_FIELD, outcome }),
  read: (entries, params, reachSeconds) => {
    const same = entries.filter((entry) => entry['action'] === params['action']);
    const window = countInWindow(same, params, reachSeconds);
    if (!window) return UNKNOWN_READING;
    // A running job has no outcome: then the last outcome is unknown, not that of the job before.
    const last = window.inside[0]?.['outcome'];
    return last === undefined ? window.reading : { ...window.reading, lastOutcome: last };
  },
};

const read: ReadFact = ({ problems, objects, machine, point }, params) => {
  const problem = problems.jobs ?? problems.machines;
  if (problem !== undefined) return unknownAnswer(problem);
  const entries = objects.jobs
    .filter(({ spec }) => spec.machine.uid === machine?.metadata.uid)
    .flatMap((job) => startedSteps(job, point));
  // Jobs are kept for the longest window that a rule reads: its compiler checks that.
  const reading = observed.read(entries, params, Infinity);
  const windowSeconds = Number(params['windowSeconds']);
  const ages = entries
    .filter(({ action }) => action === params['action'])
    .map(({ ageSeconds }) => Number(ageSeconds))
    .filter((age) => age <= windowSeconds);
  return { reading, changesInMs: (windowSeconds - Math.max(-Infinity, ...ages)) * 1000 };
};

function startedSteps(job: RemedyOperationJob, point: TimePoint): readonly Observation[] {
  const names = new Map(job.spec.plan.map(({ id, step }) => [id, step.split('@')[0] ?? '']));
  return (job.status?.steps ?? []).filter(hasStepBegun).flatMap(({ id, startedAt }) => {
    const action = names.get(id);
    const ageSeconds = ageSecondsAt(point, startedAt);
    if (action === undefined || ageSeconds === undefined) return [];
    return [{ action, ageSeconds, ...optional('outcome', job.status?.outcome?.class) }];
  });
}

export const historyFact = {
  name: 'history',
  source: 'the RemedyOperationJobs of the machine',
  maxAge: 'OurWatch',
  heartbeats: [],
  params: createParams({
    action: { type: 'choice', values: STEPS },
    windowSeconds: { type: 'seconds', max: MONTH },
  }),
  fields: createFields({ count: COUNT_FIELD, lastAgeSeconds: SECONDS_FIELD, lastOutcome: outcome }),
  observed,
  read,
  // A job has several steps.
  changes: { jobs: () => true },
  recorded: {
    jobs: {
      spec: { machine: true, plan: { id: true, step: true } },
      status: {
        outcome: { class: true },
        steps: { id: true, state: true, startedAt: true, finishedAt: true },
        timeline: true,
      },
    },
  },
} satisfies FactKind;
