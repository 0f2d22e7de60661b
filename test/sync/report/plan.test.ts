import { describe, expect, it } from 'vitest';
import type { SentCommitStatus } from '../../../src/api/generated/types.ts';
import type { CommitStatus } from '../../../src/sync/report/desired-statuses.ts';
import { planSend, type SendInput, withSent } from '../../../src/sync/report/plan.ts';
import { NOW } from '../../support/virtual-clock.ts';

const SECOND = 1000;
const DAY = 86_400_000;

const pending = (message: string, commit = 'c1'): CommitStatus => ({ commit, state: 'Pending', message });
const sent = (of: CommitStatus, times: number, agoMs: number): SentCommitStatus => ({
  ...of,
  sent: times,
  sentAt: new Date(NOW.getTime() - agoMs).toISOString(),
});

function plan(input: Partial<SendInput>): string {
  const { next, waitMs } = planSend({
    desired: [],
    recorded: [],
    blockedForMs: new Map(),
    now: NOW,
    ...input,
  });
  if (next) return `send ${next.commit}: ${next.message}`;
  return waitMs === undefined ? 'nothing' : `wait ${waitMs}`;
}

describe('S26 sends few commit statuses', () => {
  const failed: CommitStatus = { commit: 'c1', state: 'Failed', message: 'failed' };
  const one = pending('1 of 9');
  const two = pending('2 of 9');
  it.each<[name: string, input: Partial<SendInput>, expected: string]>([
    ['sends what the host was never told', { desired: [one] }, 'send c1: 1 of 9'],
    ['sends nothing that the host has', { desired: [one], recorded: [sent(one, 1, 0)] }, 'nothing'],
    [
      'sends progress after an interval',
      { desired: [two], recorded: [sent(one, 1, 2 * SECOND)] },
      'send c1: 2 of 9',
    ],
    ['waits for the rest of the interval', { desired: [two], recorded: [sent(one, 1, 500)] }, 'wait 1500'],
    ['waits longer after more calls', { desired: [two], recorded: [sent(one, 8, 0)] }, 'wait 512000'],
    ['waits a day at most', { desired: [two], recorded: [sent(one, 300, 0)] }, `wait ${DAY}`],
    ['sends a new state at once', { desired: [failed], recorded: [sent(one, 39, 0)] }, 'send c1: failed'],
    [
      'slows down a state that changes all the time',
      { desired: [failed], recorded: [sent(one, 40, 0)] },
      `wait ${DAY}`,
    ],
    [
      'does not wait for a time in the future: the clock went back',
      { desired: [two], recorded: [sent(one, 8, -DAY)] },
      'send c1: 2 of 9',
    ],
    [
      'does not wait for a time that it cannot read',
      { desired: [two], recorded: [{ ...one, sent: 8 }] },
      'send c1: 2 of 9',
    ],
    ['sends the newest commit first', { desired: [pending('new', 'c2'), one] }, 'send c2: new'],
    [
      'passes over a commit that the host refused a moment ago',
      { desired: [pending('new', 'c2'), one], blockedForMs: new Map([['c2', 700]]) },
      'send c1: 1 of 9',
    ],
    [
      'sends others first when that moment is over',
      { desired: [pending('new', 'c2'), one], blockedForMs: new Map([['c2', 0]]) },
      'send c1: 1 of 9',
    ],
    [
      'sends it again after the others',
      { desired: [one], blockedForMs: new Map([['c1', 0]]) },
      'send c1: 1 of 9',
    ],
    ['comes back to it', { desired: [one], blockedForMs: new Map([['c1', 700]]) }, 'wait 700'],
  ])('%s', (_, input, expected) => {
    expect(plan(input)).toBe(expected);
  });

  it('keeps the records of the commits that it still reports', () => {
    const recorded = [sent(one, 1, 0), sent(pending('old', 'gone'), 1, 0)];
    const { kept } = planSend({ desired: [one], recorded, blockedForMs: new Map(), now: NOW });
    expect(kept.map(({ commit }) => commit)).toEqual(['c1']);
  });

  it('counts the calls of a commit, and records the newest first', () => {
    const first = withSent([sent(pending('x', 'c0'), 1, 0)], one, NOW);
    expect(withSent(first, two, NOW)).toEqual([
      { ...two, sent: 2, sentAt: NOW.toISOString() },
      sent(pending('x', 'c0'), 1, 0),
    ]);
  });

  it.each([60, 3600, 24 * 3600, 7 * 24 * 3600])(
    'needs at most 20 calls for a commit of 500 clusters in %d seconds, and the last one is right',
    (seconds) => {
      let recorded: readonly SentCommitStatus[] = [];
      let calls = 0;
      const stepMs = (seconds * SECOND) / 1500;
      for (let step = 0; step <= 1500; step += 1) {
        const proven = Math.floor(step / 3);
        const desired: CommitStatus =
          step === 1500
            ? { commit: 'c1', state: 'Succeeded', message: 'proven' }
            : pending(`stage ${proven < 50 ? 'test' : 'prod'}: ${proven} of 500`);
        const now = new Date(NOW.getTime() + step * stepMs);
        const { next, kept } = planSend({ desired: [desired], recorded, blockedForMs: new Map(), now });
        if (next) {
          calls += 1;
          recorded = withSent(kept, next, now);
        }
      }
      expect(recorded).toMatchObject([{ state: 'Succeeded', sent: calls }]);
      expect(calls).toBeLessThanOrEqual(20);
      expect(calls).toBeGreaterThan(5);
    },
  );
});
