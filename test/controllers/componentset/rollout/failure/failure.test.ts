import { describe, expect, it } from 'vitest';
import {
  failedMembers,
  failureReason,
} from '../../../../../src/controllers/componentset/rollout/failure/failure.ts';
import { NOW } from '../../../../support/builders.ts';
import { BATCH, type InputParts, inputOf, member, NEW, progressOf } from '../rollout-input.ts';

const failed = (name: string, batch = 1): ReturnType<typeof member> =>
  member(name, { at: NEW, batch, step: 'Failed', because: 'no answer' });
const settled = (name: string): ReturnType<typeof member> => member(name, { at: NEW, batch: 1 });

describe('failedMembers', () => {
  it('ROL-31 has the machines of the revision that failed, and those of the open batch that became unhealthy', () => {
    const members = [
      failed('a'),
      failed('b', 0),
      member('c', { at: NEW, batch: 1, step: 'Unhealthy' }),
      member('d', { at: NEW, batch: 0, step: 'Unhealthy' }),
      member('e', { step: 'Failed' }),
      member('f', { at: NEW, batch: 1, step: 'UnhealthyBefore' }),
      member('g', { at: NEW, batch: 1, step: 'Unknown' }),
    ];
    expect(failedMembers(members, progressOf()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });
});

describe('failureReason', () => {
  const failure = { per: 'Rollout', onFailure: 'Pause' } as const;
  const soaking = progressOf({ batch: { ...BATCH, soakUntil: NOW } });
  const gate = { state: 'Failed', check: 'c', because: 'check c: 7' } as const;

  it.each<[what: string, parts: InputParts, reason: string | undefined]>([
    ['nothing failed', { members: [settled('a'), settled('b')] }, undefined],
    ['one failed, and none may', { members: [settled('a'), failed('b')] }, 'FailureBudgetSpent'],
    [
      'one failed, and one may',
      { members: [settled('a'), failed('b')], rollout: { failure: { ...failure, maxFailed: 1 } } },
      undefined,
    ],
    [
      'two failed in two batches, and one may',
      {
        members: [settled('a'), failed('b'), failed('c', 0)],
        rollout: { failure: { ...failure, maxFailed: 1 } },
      },
      'FailureBudgetSpent',
    ],
    [
      'two failed in two batches, and one may in each',
      {
        members: [settled('a'), failed('b'), failed('c', 0)],
        rollout: { failure: { ...failure, per: 'Batch', maxFailed: 1 } },
      },
      undefined,
    ],
    [
      'a percentage of the machines at the start',
      { members: [settled('a'), failed('b')], rollout: { failure: { ...failure, maxFailed: '10%' } } },
      undefined,
    ],
    [
      'a whole batch, within the budget',
      { members: [failed('a'), failed('b')], rollout: { failure: { ...failure, maxFailed: 5 } } },
      'BatchUnproven',
    ],
    [
      'all machines of a batch that is not full yet',
      { members: [failed('a')], rollout: { failure: { ...failure, maxFailed: 5 } } },
      undefined,
    ],
    ['a check that failed during the soak', { progress: soaking, gate }, 'GateFailed'],
    ['a check that failed before the soak', { gate }, undefined],
    ['a check without a result', { progress: soaking, gate: { ...gate, state: 'Inconclusive' } }, undefined],
  ])('ROL-30 stops the rollout, or not: %s', (_what, parts, reason) => {
    const input = inputOf(parts);
    expect(failureReason(input, input.progress)?.reason).toBe(reason);
  });

  it('ROL-30 names the first machine and its error', () => {
    const input = inputOf({ members: [failed('b')] });
    expect(failureReason(input, input.progress)).toEqual({
      reason: 'FailureBudgetSpent',
      because: 'machines failed: 1, allowed: 0. b: no answer',
      blocker: { kind: 'Machine', name: 'b' },
    });
  });
});
