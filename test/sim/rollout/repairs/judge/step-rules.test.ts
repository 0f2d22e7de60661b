import { describe, expect, it } from 'vitest';
import { KEYS } from '../../../../../src/sim/rollout/repairs/judge/forbidden-since.ts';
import { type JudgedStep, stepViolations } from '../../../../../src/sim/rollout/repairs/judge/step-rules.ts';
import { judgedJob, judgedLedger } from '../repair-objects.ts';

const STEP: JudgedStep = {
  job: judgedJob(),
  ledger: judgedLedger(),
  since: new Map(),
  atMs: 200_000,
  lateMs: 0,
};

const FORBIDDEN = [
  [KEYS.cleared('m-1', 'hung'), 'a step after its fault had ended'],
  [KEYS.held('m-1'), 'a step on a machine that is held'],
  [KEYS.uncordoned('m-1', 'g-1'), 'a step after a person had uncordoned the node'],
  [KEYS.replaced('node-uid-1'), 'a step for a Node that was replaced'],
  [KEYS.deleted('uid-m-1'), 'a step for a machine that was deleted'],
  [KEYS.cancelled('job-1'), 'a step of a job that was cancelled'],
] as const;

describe('stepViolations', () => {
  it('finds nothing while the grant is live and nothing forbids the step', () => {
    expect(stepViolations(STEP)).toEqual([]);
  });

  it.each(FORBIDDEN)('finds a step long after %s', (key, what) => {
    expect(stepViolations({ ...STEP, since: new Map([[key, 100_000]]) })).toEqual([what]);
  });

  it.each(FORBIDDEN)(
    'lets a process know of %s a little later, and an agent as late as its release',
    (key) => {
      expect(stepViolations({ ...STEP, since: new Map([[key, 150_000]]) })).toEqual([]);
      expect(stepViolations({ ...STEP, lateMs: 60_000, since: new Map([[key, 100_000]]) })).toEqual([]);
    },
  );

  it.each([
    ['was never recorded', undefined, 'a step without a grant in the ledger'],
    ['is of another job', judgedLedger({ id: 'g-2' }), 'a step without a grant in the ledger'],
    ['is settled', judgedLedger({ state: 'Settled' }), 'a step without a grant in the ledger'],
    [
      'has ended',
      judgedLedger({ notAfter: new Date(100_000).toISOString() }),
      'a step with a grant that has ended',
    ],
  ])('finds a step whose grant %s', (_, ledger, what) => {
    expect(stepViolations({ ...STEP, ledger })).toEqual([what]);
  });

  it('finds a step of a job that has its outcome', () => {
    expect(stepViolations({ ...STEP, job: judgedJob({ outcome: 'Cancelled' }) })).toEqual([
      'a step of a job that has ended',
    ]);
  });
});
