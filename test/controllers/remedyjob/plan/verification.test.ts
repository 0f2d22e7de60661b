import { describe, expect, it } from 'vitest';
import type { RemedyOperationJobStatus } from '../../../../src/api/generated/types.ts';
import { planVerification } from '../../../../src/controllers/remedyjob/plan/verification.ts';
import type { Truth } from '../../../../src/rules/compiled-rule.ts';
import { explained, later, observation, repairJob } from '../jobs.ts';

function planned(verified: Truth, executed: number, waiting?: RemedyOperationJobStatus['waiting']): string {
  const status = { timeline: { executedAt: later(-executed) }, ...(waiting ? { waiting } : {}) };
  return explained(planVerification(observation({ verified, job: repairJob({ status }) })));
}

function holding(seconds: number): NonNullable<RemedyOperationJobStatus['waiting']> {
  return { reason: 'VerificationHolding', since: later(-seconds), message: 'the conditions hold' };
}

describe('planVerification', () => {
  it.each<
    [name: string, truth: Truth, seconds: readonly [executed: number, held?: number], expected: string]
  >([
    [
      'waits for the fault to go',
      'False',
      [10],
      'Wait (FaultPresent): the conditions of the verification do not hold',
    ],
    ['waits for facts', 'Unknown', [10], 'Wait (FactsUnknown): facts of the verification are unknown'],
    [
      'begins to hold',
      'True',
      [10],
      'Wait (VerificationHolding): the conditions hold; the repair is verified when they have held for 60 s',
    ],
    [
      'holds',
      'True',
      [100, 59],
      'Wait (VerificationHolding): the conditions hold; the repair is verified when they have held for 60 s',
    ],
    ['is verified', 'True', [100, 60], 'Write verifiedAt: the conditions of the verification held for 60 s'],
    [
      'begins again when the conditions did not hold in between',
      'False',
      [100, 59],
      'Wait (FaultPresent): the conditions of the verification do not hold',
    ],
    [
      'fails after its time',
      'False',
      [600],
      'Write Transient/NotVerified: not verified in 600 s: the conditions of the verification do not hold',
    ],
    [
      'fails when facts stay unknown',
      'Unknown',
      [600],
      'Write Transient/NotVerified: not verified in 600 s: facts of the verification are unknown',
    ],
    [
      'lets a hold end that begins late',
      'True',
      [600],
      'Wait (VerificationHolding): the conditions hold; the repair is verified when they have held for 60 s',
    ],
  ])('R37 proves success by facts: %s', (_, truth, [executed, held], expected) => {
    expect(planned(truth, executed, held === undefined ? undefined : holding(held))).toBe(expected);
  });

  it('R37 looks at the facts again soon, and at the very end of the hold', () => {
    const status = { timeline: { executedAt: later(-100) }, waiting: holding(58) };
    const decision = planVerification(observation({ verified: 'True', job: repairJob({ status }) }));
    expect(decision).toMatchObject({ requeueAt: new Date(later(2)) });
  });
});
