import { describe, expect, it } from 'vitest';
import type { RepairWaitReason } from '../../../src/api/status/repair-waits.ts';
import { jobUnblock } from '../../../src/views/repair/unblock.ts';
import { jobStory } from '../../cli/commands/remedy/stories.ts';
import { ago } from '../../support/builders.ts';

const SINCE = ago(20);
const STEP = { executor: 'Central', risk: 'None', onFailure: 'Fail', onTimeout: 'Fail' } as const;

/** The hint of a job whose only step began a minute ago, or has ended where `executedAt` is given. */
function hint(reason: string, { executedAt = '', step = {} } = {}): string {
  const state = executedAt === '' ? 'Running' : 'Succeeded';
  const job = jobStory('a new job');
  const status = {
    conditions: [],
    steps: [{ id: 's1', state, tries: 1, startedAt: ago(60) } as const],
    ...(executedAt && { timeline: { executedAt } }),
  };
  const plan = [{ ...STEP, id: 's1', step: 'WaitForCondition@v1', timeoutSeconds: 90, ...step }];
  return jobUnblock({ ...job, spec: { ...job.spec, plan }, status }, { reason, since: SINCE });
}

describe('jobUnblock', () => {
  it.each<[reason: RepairWaitReason, hint: string]>([
    [
      'VerificationHolding',
      `no action required: the repair is verified at ${ago(-280)} if the conditions hold until then`,
    ],
    [
      'FaultPresent',
      `no action required: the job fails at ${ago(-870)} if the conditions of its verification do not hold by then`,
    ],
    [
      'FactsUnknown',
      `kubenode rules explain node-a17 --rule kernel-hang lists which facts are unknown and why; the job fails at ${ago(-870)} if they still are`,
    ],
    ['FaultClearing', 'no action required: the case is closed when the fault has stayed away for that long'],
  ])('R29 names when the verification ends the wait %s', (reason, expected) => {
    expect(hint(reason, { executedAt: ago(30) })).toBe(expected);
  });

  it.each<[reason: RepairWaitReason, hint: string]>([
    ['Boot', 'no action required while the machine boots'],
    ['Condition', 'no action required until the Node reports it: kubectl describe node node-a17'],
    [
      'MachineBusy',
      'no action required once the job that cordoned the node has ended: kubenode remedy list --machine node-a17',
    ],
    ['PodBlocked', 'no action required once the pod may be evicted: check the pod that is named'],
  ])('R29 names when the step times out that waits for %s', (reason, expected) => {
    expect(hint(reason)).toBe(`${expected}; the step times out at ${ago(-30)}`);
  });

  it('names when a person is asked instead, and not after that', () => {
    const step = { onTimeout: 'RequestApproval' };
    expect(hint('Draining', { step })).toBe(
      `no action required: its pods are being evicted; a person is asked at ${ago(-30)}`,
    );
    expect(hint('ApprovalRequired', { step })).not.toContain(ago(-30));
  });

  it('names when the lead time of a notification ends, not its timeout', () => {
    expect(hint('LeadTime', { step: { with: { leadTimeSeconds: 70 } } })).toBe(
      `no action required: the next step begins at ${ago(-10)}`,
    );
  });

  it('has a hint for a reason of another version, also with the name of a property of every object', () => {
    expect(hint('constructor')).toBe(hint('SomethingNew'));
  });
});
