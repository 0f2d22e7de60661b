import { describe, expect, it } from 'vitest';
import type { JobOutcome, JobStepStatus } from '../../../../src/api/generated/types.ts';
import type { GrantOutcome } from '../../../../src/api/grants.ts';
import { grantOutcome } from '../../../../src/controllers/remedyjob/plan/grant-outcome.ts';
import { planSettlement } from '../../../../src/controllers/remedyjob/plan/settlement.ts';
import { jobMachine, observation, records, repairJob } from '../jobs.ts';

const REBOOTED = records('s2 Succeeded, s3 Succeeded, s4 Succeeded');
const CANCELLED = { class: 'Cancelled', reason: 'RuleRefuted' } as const;

function failed(id: string, code: string): readonly JobStepStatus[] {
  return records(`${id} Failed`, { code });
}

describe('grantOutcome', () => {
  it.each<[what: string, steps: readonly JobStepStatus[], outcome: GrantOutcome]>([
    ['nothing was begun', [], 'Unused'],
    ['only diagnostics were collected', records('s1 Succeeded'), 'Unused'],
    ['it was only cordoned', records('s2 Succeeded'), 'Unused'],
    ['it was drained', records('s2 Succeeded, s3 Succeeded'), 'Succeeded'],
    ['it was rebooted', REBOOTED, 'Succeeded'],
    ['the reboot was not begun when it ended', failed('s4', 'RuleRefuted'), 'Unused'],
    ['the drain failed before', failed('s3', 'TimedOut'), 'Failed'],
    ['the reboot failed after a drain', [...records('s3 Succeeded'), ...failed('s4', 'TimedOut')], 'Failed'],
    ['the reboot may still happen', records('s3 Succeeded, s4 Ambiguous'), 'Ambiguous'],
  ])(
    'ROL-10 R36 settles the grant of a job that was cancelled as it was used: %s',
    (_what, steps, outcome) => {
      expect(grantOutcome(repairJob({ status: { steps } }), CANCELLED)).toBe(outcome);
    },
  );

  it.each<[JobOutcome['class'], GrantOutcome]>([
    ['Succeeded', 'Succeeded'],
    ['HandedOff', 'Succeeded'],
    ['Transient', 'Failed'],
    ['Permanent', 'Failed'],
    ['Ambiguous', 'Ambiguous'],
    ['Superseded', 'Unused'],
  ])('R36 settles the grant of a job that ended by the end: %s', (kind, outcome) => {
    expect(grantOutcome(repairJob(), { class: kind })).toBe(outcome);
  });

  it('R36 settles a job that was cancelled after its reboot as one that has rebooted', () => {
    const job = repairJob({ status: { outcome: CANCELLED, steps: REBOOTED } });
    const machine = jobMachine({ repairs: { total: 1, recent: [{ job: job.metadata.name }] } });
    expect(planSettlement(observation({ job, machine }), CANCELLED)).toMatchObject({
      type: 'SettleGrant',
      outcome: 'Succeeded',
    });
  });
});
