import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { endOf, hasCleared, isJobAtWork, jobsOfRule } from '../../../../src/controllers/remedy/case/jobs.ts';
import { ago } from '../../../support/builders.ts';
import { remedyJob } from '../../../support/remediers.ts';

describe('the jobs of a machine', () => {
  it('of one rule on one Node are found, the oldest one first', () => {
    const [first, second] = [remedyJob({ begun: 900 }), remedyJob({ begun: 600 })];
    const others = [remedyJob({ remedier: 'another' }), remedyJob({ nodeUID: 'another' })];
    expect(jobsOfRule([second, ...others, first], 'kernel-hang', 'node-uid-1')).toEqual([first, second]);
  });

  it('are at work until they have an outcome and have settled', () => {
    const ended = remedyJob({ outcome: 'Succeeded' });
    const unsettled = { ...ended, metadata: { ...ended.metadata, finalizers: ['kubenode.dev/settle'] } };
    expect([remedyJob(), unsettled, ended].map(isJobAtWork)).toEqual([true, true, false]);
  });

  it('end when they settled, and at their deadline as long as they have not', () => {
    expect(endOf(remedyJob({ begun: 900, ended: 800, outcome: 'Succeeded' }))).toEqual(new Date(ago(800)));
    expect(endOf(remedyJob({ begun: 900 }))).toEqual(new Date(ago(900 - 7200)));
  });

  it.each<[NonNullable<NonNullable<RemedyOperationJob['status']>['outcome']>, boolean]>([
    [{ class: 'Succeeded' }, true],
    [{ class: 'Superseded' }, true],
    [{ class: 'Cancelled', reason: 'RuleRefuted' }, true],
    [{ class: 'Cancelled', reason: 'Held' }, false],
    [{ class: 'Transient' }, false],
    [{ class: 'HandedOff' }, false],
  ])('R5 ended without their fault by their outcome: %j, %s', (outcome, expected) => {
    expect(hasCleared({ ...remedyJob(), status: { conditions: [], outcome } })).toBe(expected);
  });

  it('R5 that are at work have not ended without their fault', () => {
    expect(hasCleared(remedyJob())).toBe(false);
  });
});
