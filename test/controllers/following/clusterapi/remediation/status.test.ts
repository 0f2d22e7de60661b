import { describe, expect, it } from 'vitest';
import type { RemediationDecision } from '../../../../../src/controllers/following/clusterapi/remediation/judge.ts';
import {
  type HandBackResult,
  isStatusChanged,
  remediationStatus,
} from '../../../../../src/controllers/following/clusterapi/remediation/status.ts';
import { ago, NOW } from '../../../../support/builders.ts';
import { ours } from '../objects.ts';
import { finding, request } from './requests.ts';

function decision(parts: Partial<RemediationDecision>): RemediationDecision {
  const usual = { step: 'Waiting', reason: 'Denied', because: 'BudgetUsed' } as const;
  return { remediation: request(1), ...usual, ...parts };
}

const DONE: HandBackResult = { isDone: true, reason: 'LadderEnded', message: 'job j' };
const PAUSED: HandBackResult = { isDone: false, reason: 'OwnerHold', message: 'paused' };

function explain(parts: Partial<RemediationDecision>, handBack?: HandBackResult): readonly string[] {
  const { conditions = [] } = remediationStatus(decision(parts), handBack, NOW);
  return conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
}

describe('the status of a request of a health check', () => {
  it.each<[string, Partial<RemediationDecision>, HandBackResult | undefined, readonly string[]]>([
    [
      'shows why nothing begins',
      {},
      undefined,
      ['Repairing False Denied: BudgetUsed', 'HandedBack False RepairsFirst: repairs are tried first'],
    ],
    [
      'shows the job at work',
      { step: 'Repairing', reason: 'JobActive', because: 'job j is at work' },
      undefined,
      [
        'Repairing True JobActive: job j is at work',
        'HandedBack False RepairsFirst: repairs are tried first',
      ],
    ],
    [
      'keeps the time since which no Machine follows, also when the hand-back is not done',
      { step: 'HandBack', reason: 'NotFollowed', because: 'none' },
      PAUSED,
      ['Repairing Unknown NotFollowed: none', 'HandedBack False OwnerHold: paused'],
    ],
    [
      'shows the hand-back',
      { step: 'HandBack', reason: 'LadderEnded', because: 'job j' },
      DONE,
      ['Repairing False Ended: job j', 'HandedBack True LadderEnded: job j'],
    ],
    [
      'shows why the hand-back is due and not done',
      { step: 'HandBack', reason: 'LadderEnded', because: 'job j' },
      PAUSED,
      ['Repairing False Ended: job j', 'HandedBack False OwnerHold: paused'],
    ],
    [
      'ends what no Machine followed with its hand-back',
      { step: 'HandedBack', reason: 'NotFollowed', because: 'none' },
      undefined,
      ['Repairing False Ended: none', 'HandedBack True NotFollowed: none'],
    ],
    [
      'keeps the hand-back',
      { step: 'HandedBack', reason: 'LadderEnded', because: 'job j' },
      undefined,
      ['Repairing False Ended: job j', 'HandedBack True LadderEnded: job j'],
    ],
  ])('CAP-09 in its conditions it %s', (_, parts, handBack, expected) => {
    expect(explain(parts, handBack)).toEqual(expected);
  });

  it('CAP-09 keeps the machine, the job and the time of what has not changed', () => {
    const before = {
      machine: 'node-1',
      job: 'j-1',
      conditions: [
        finding('Repairing', 'False', 'Denied', 'BudgetUsed'),
        finding('HandedBack', 'False', 'RepairsFirst', 'repairs are tried first'),
      ],
    };
    const remediation = request(1, { status: before });
    const same = remediationStatus(decision({ remediation }), undefined, NOW);
    expect(isStatusChanged(remediation, same)).toBe(false);
    const next = remediationStatus(decision({ remediation, machine: ours(1), job: 'j-2' }), undefined, NOW);
    expect([next.machine, next.job, next.conditions?.[0]?.lastTransitionTime]).toEqual([
      'node-1',
      'j-2',
      ago(60),
    ]);
    expect(isStatusChanged(remediation, next)).toBe(true);
  });
});
