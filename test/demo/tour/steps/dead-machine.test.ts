import { describe, expect, it } from 'vitest';
import type { Machine, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import {
  notReplacedReason,
  overBudgetReason,
  replacementJobOf,
  sampleMachines,
} from '../../../../src/demo/tour/steps/dead-machine.ts';
import { condition, machine } from '../../../support/builders.ts';

const DEAD = { name: 'a', uid: 'uid-a', replicas: 2 };
const ENDED = { metadata: { name: 'job-1' }, status: { phase: 'Settled', outcome: { class: 'Succeeded' } } };
const JOB = ENDED as unknown as RemedyOperationJob;

function named(name: string, ready: 'True' | 'False' | 'Unknown' = 'True'): Machine {
  return machine(name, {
    metadata: { uid: `uid-${name}` },
    status: { conditions: [condition('Ready', ready)] },
  });
}

function jobBy(name: string, remedier: string, uid = 'uid-a'): RemedyOperationJob {
  return { metadata: { name }, spec: { machine: { uid }, cause: { remedier } } } as RemedyOperationJob;
}

describe('a machine that is cut off for good', () => {
  it.each<[string, RemedyOperationJob | undefined, readonly Machine[], RegExp]>([
    ['has no job yet', undefined, [named('a', 'Unknown'), named('b')], /^no repair job yet$/],
    ['exists beside its replacement', JOB, [named('a', 'Unknown'), named('b')], /^a is not deleted yet$/],
    ['was deleted without a replacement', JOB, [named('b')], /^1 machines, expected 2$/],
    ['has a replacement that is not Ready', JOB, [named('b'), named('c', 'False')], /^Ready=False/],
    ['is replaced', JOB, [named('b'), named('c')], /^nothing$/],
  ])('%s', (_, job, machines, expected) => {
    expect(notReplacedReason(DEAD, job, machines) ?? 'nothing').toMatch(expected);
  });

  it('has a job that has not succeeded, whatever its machines', () => {
    const failed = {
      ...JOB,
      status: { ...JOB.status, outcome: { class: 'Transient', message: 'no machine' } },
    };
    expect(notReplacedReason(DEAD, failed as RemedyOperationJob, [named('b'), named('c')])).toMatch(
      /^job-1: /,
    );
  });

  it.each([
    ['one is missing, and then one is too many', [1, 2, 1, 3, 2, 2], undefined],
    ['two are missing', [2, 2, 0, 2], 'at least 0 were Ready, and at most 2 existed, of 2'],
    ['two are too many', [1, 4], 'at least 1 were Ready, and at most 4 existed, of 2'],
  ])('keeps the budget, or not: %s', (_, numbers, expected) => {
    const counts = numbers.flatMap((ready, index) =>
      index % 2 === 0 ? [{ ready, all: numbers[index + 1] ?? 0 }] : [],
    );
    expect(overBudgetReason(DEAD, counts)).toBe(expected);
  });

  it('is replaced by a job of its rule, whatever other rules have done before', () => {
    const others = [jobBy('1', 'kubelet-silent'), jobBy('2', 'dead-machine', 'uid-b')];
    expect(replacementJobOf(DEAD, others)).toBeUndefined();
    expect(replacementJobOf(DEAD, [...others, jobBy('3', 'dead-machine')])?.metadata.name).toBe('3');
  });

  it('is counted among all, and not among those that are Ready', () => {
    expect(sampleMachines([named('a', 'Unknown'), named('b')])).toEqual({ ready: 1, all: 2 });
  });
});
