import { describe, expect, it } from 'vitest';
import type { DefenderLedger, LedgerApproval } from '../../../../../src/api/generated/types.ts';
import type { Denial, Grant, GrantPort } from '../../../../../src/api/grants.ts';
import {
  type ApprovalAnswer,
  createApprovals,
} from '../../../../../src/controllers/remedyjob/execute/steps/approval.ts';
import { NOW } from '../../../../support/builders.ts';
import { later, repairJob } from '../../jobs.ts';

const job = repairJob();
const approval: LedgerApproval = {
  action: 'RequestApproval',
  risk: 'None',
  holder: job.metadata.name,
  holderKind: 'RemedyOperationJob',
  decision: 'Approved',
  by: 'anna',
  reason: 'go on',
  at: later(10),
  until: later(3600),
};
const pending: Denial = {
  granted: false,
  reason: 'NodeBusy',
  message: 'Reboot is in work',
  also: [{ reason: 'ApprovalPending', message: 'it waits for the approval of sre' }],
};

interface Asked {
  readonly answer: ApprovalAnswer;
  readonly settled: readonly string[];
}

async function ask(answer: Denial | object, recorded?: Partial<LedgerApproval>): Promise<Asked> {
  const settled: string[] = [];
  const grants: Pick<GrantPort, 'ask' | 'settle'> = {
    ask: async () => [answer as Denial | Grant],
    settle: async (settlements) =>
      void settled.push(...settlements.map(({ id, outcome }) => `${id} ${outcome}`)),
  };
  const approvals = recorded ? { m: { ...approval, ...recorded } } : {};
  const ledger = { spec: { approvals } } as unknown as DefenderLedger;
  return { answer: await createApprovals(grants, () => ledger).ask(job, NOW, NOW), settled };
}

describe('the approval of a step', () => {
  it.each<[name: string, recorded: Partial<LedgerApproval> | undefined, expected: string]>([
    ['is the answer of a person', {}, 'Approved: approved by anna: go on'],
    ['needs no reason', { reason: '' }, 'Approved: approved by anna'],
    ['is also a refusal', { decision: 'Refused' }, 'Refused: refused by anna: go on'],
    [
      'is not an answer to another job',
      { holder: 'other' },
      'Pending: it waits for the approval of sre: kubenode defender approve m',
    ],
    [
      'is not an answer to another act',
      { action: 'Reboot' },
      'Pending: it waits for the approval of sre: kubenode defender approve m',
    ],
    [
      'is not an answer from before the question',
      { at: later(-1) },
      'Pending: it waits for the approval of sre: kubenode defender approve m',
    ],
    ['is asked for', undefined, 'Pending: it waits for the approval of sre: kubenode defender approve m'],
  ])('R35 asks a person and never forces: %s', async (_, recorded, expected) => {
    const { answer } = await ask(pending, recorded);
    expect(`${answer.state}: ${answer.message}`).toBe(expected);
  });

  it('tells when no policy lets a person answer', async () => {
    const { answer } = await ask({ ...pending, also: [] });
    expect(answer.message).toBe(
      'no DefenderPolicy has an approval rule for RequestApproval, so that no answer is possible',
    );
  });

  it('names a Defender that does not answer', async () => {
    const unavailable = { ...pending, reason: 'LedgerUnavailable', message: 'no ledger', also: [] } as const;
    const { answer } = await ask(unavailable);
    expect(answer.message).toBe('the Defender does not answer: no ledger');
  });

  it('gives a second grant back at once, and keeps its own', async () => {
    expect((await ask({ granted: true, id: 'g-9-1', fence: 9 })).settled).toEqual(['g-9-1 Unused']);
    expect((await ask({ granted: true, ...job.spec.grant })).settled).toEqual([]);
  });
});
