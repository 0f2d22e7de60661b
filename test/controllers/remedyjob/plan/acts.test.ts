import { describe, expect, it } from 'vitest';
import type { JobStepStatus } from '../../../../src/api/generated/types.ts';
import { mayHaveChanged } from '../../../../src/controllers/remedyjob/plan/acts.ts';
import { jobSpec, jobStep, records, repairJob } from '../jobs.ts';

const job = (steps: readonly JobStepStatus[]) =>
  repairJob({
    spec: jobSpec({
      plan: [
        jobStep('s1', 'CollectDiagnostics'),
        jobStep('s2', 'Cordon'),
        jobStep('s3', 'Drain'),
        jobStep('s4', 'RestartService'),
      ],
    }),
    status: { steps },
  });

describe('mayHaveChanged', () => {
  it.each<[what: string, steps: readonly JobStepStatus[], expected: boolean]>([
    ['has no record', [], false],
    ['only collected diagnostics and cordoned', records('s1 Succeeded, s2 Succeeded'), false],
    ['failed to restart a service', records('s2 Succeeded, s4 Failed', { code: 'NotStarted' }), false],
    ['skipped the restart', records('s4 Skipped'), false],
    ['restarted it', records('s4 Succeeded'), true],
    ['restarted it, perhaps', records('s4 Ambiguous'), true],
    ['is at it', records('s4 Running'), true],
    ['took too long to restart it', records('s4 Failed', { code: 'TimedOut' }), true],
    ['failed to drain it, and has evicted pods', records('s3 Failed'), true],
    ['drained it, and failed to restart', records('s3 Succeeded, s4 Failed'), true],
  ])('R26 of a job that %s', (_what, steps, expected) => {
    expect(mayHaveChanged(job(steps))).toBe(expected);
  });
});
