/** The steps of a job with what became of each, in the order of the plan. Pure. */
import type { JobStep, JobStepStatus, RemedyOperationJob } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';

export interface JobStepView {
  readonly id: string;
  /** With its version, as the job names it: `Reboot@v1`. */
  readonly step: string;
  readonly by: JobStep['executor'];
  readonly state: JobStepStatus['state'];
  readonly tries: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** The code and the message of its result. */
  readonly because: string;
}

export function viewSteps({ spec, status }: RemedyOperationJob): readonly JobStepView[] {
  const reports = new Map(status?.steps?.map((report) => [report.id, report]));
  return [...spec.plan, ...(spec.onVerified ?? [])].map((step) => stepView(step, reports.get(step.id)));
}

function stepView(
  { id, step, executor }: JobStep,
  report: JobStepStatus = { id, state: 'Pending' },
): JobStepView {
  const { state, tries = 0, startedAt, finishedAt, code, message } = report;
  return {
    id,
    step,
    by: executor,
    state,
    tries,
    ...optional('startedAt', startedAt),
    ...optional('finishedAt', finishedAt),
    because: [code, message].filter(Boolean).join(': '),
  };
}
