import { describe, expect, it } from 'vitest';
import { waitFor } from '../../../src/sync/promote/wait.ts';
import { later, NOW } from '../../rollout/builders.ts';

const BUSY = { reason: 'StageBusy', because: 'busy with c1', blocker: { kind: 'Release', name: 'c1' } };

describe('waitFor', () => {
  const before = waitFor(undefined, BUSY, NOW);

  it('is dated by its first reconcile', () => {
    expect(before).toEqual({
      reason: 'StageBusy',
      blocker: { kind: 'Release', name: 'c1' },
      since: NOW.toISOString(),
      message: 'busy with c1',
    });
  });

  it.each([
    ['the same reason and blocker', BUSY, 0],
    ['another message', { ...BUSY, because: 'still busy with c1' }, 0],
    ['another reason', { ...BUSY, reason: 'StageBefore' }, 60],
    ['another blocker', { ...BUSY, blocker: { kind: 'Release', name: 'c2' } }, 60],
    ['no blocker', { reason: BUSY.reason, because: BUSY.because }, 60],
  ])('dates a wait with %s at %i s', (_, explanation, since) => {
    expect(waitFor(before, explanation, later(60)).since).toBe(later(since).toISOString());
  });
});
