/** Jobs whose steps tell people something. */
import type { JobStep, JobStepStatus, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import type { Notice } from '../../../src/controllers/notifier/notice.ts';
import { ago } from '../../support/builders.ts';
import { remedyJob } from '../../support/remediers.ts';
import { jobStep } from '../remedyjob/jobs.ts';

/** Seconds since the step began; undefined: it has not. */
export type Begun = number | undefined;

export function tellingJob(
  steps: readonly (readonly [JobStep, Begun])[],
  metadata: Partial<RemedyOperationJob['metadata']> = {},
): RemedyOperationJob {
  const job = remedyJob({ machine: 'n17' });
  const records = steps.flatMap(([{ id }, begun]): JobStepStatus[] =>
    begun === undefined ? [] : [{ id, state: 'Succeeded', startedAt: ago(begun) }],
  );
  return {
    ...job,
    metadata: { ...job.metadata, uid: 'job-uid-1', ...metadata },
    spec: { ...job.spec, plan: steps.map(([step]) => step) },
    status: { conditions: [], steps: records },
  };
}

/** The job after it handed the machine to a person. */
export function handedOffJob(begun: number): RemedyOperationJob {
  const job = tellingJob([[HAND_OFF, begun]]);
  const outcome = { class: 'HandedOff', reason: 'HandedOff', message: 'a person is needed' } as const;
  return {
    ...job,
    status: { ...job.status, conditions: [], outcome, timeline: { settledAt: ago(begun - 10) } },
  };
}

export const HAND_OFF = jobStep('s1', 'HandOff', { with: { severity: 'page' } });

export function notice(parts: Partial<Notice> = {}): Notice {
  return {
    event: 'Opened',
    id: 'job-uid-1/s1',
    incident: 'kubenode/uid-n17/kernel-hang/0a1b2c3d',
    step: 'HandOff',
    stepId: 's1',
    severity: 'page',
    queue: 'platform',
    summary: 'n17: Kernel fault of rule kernel-hang, needs a person',
    machine: 'n17',
    rule: 'kernel-hang',
    faultClass: 'Kernel',
    job: 'n17-kernel-hang-0a1b2c3d-r1-a1',
    commit: '4f2c9e1a77b0',
    at: ago(60),
    evidence: [],
    ...parts,
  };
}
