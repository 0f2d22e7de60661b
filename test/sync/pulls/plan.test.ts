import { describe, expect, it } from 'vitest';
import type { PlannedPullRequest } from '../../../src/api/generated/types.ts';
import type { PullRequest } from '../../../src/sync/pulls/hosts/adapter.ts';
import { choosePull, type PullChoiceInput, withPlanned } from '../../../src/sync/pulls/plan.ts';
import { NOW } from '../../support/virtual-clock.ts';

const SECOND = 1000;
const pull = (number: number, head = 'h1', isFork = false): PullRequest => ({ number, head, isFork });

function planned(number: number, agoMs: number, more: Partial<PlannedPullRequest> = {}): PlannedPullRequest {
  const plannedAt = new Date(NOW.getTime() - agoMs).toISOString();
  return { number, head: 'h1', base: 'b1', comment: '7', state: 'Succeeded', plannedAt, ...more };
}

function choose(input: Partial<PullChoiceInput>): string {
  const { next, waitMs } = choosePull({
    open: [],
    recorded: [],
    base: 'b1',
    forks: false,
    blockedForMs: new Map(),
    now: NOW,
    ...input,
  });
  if (next) return `plan ${next.number} at ${next.head}`;
  return waitMs === undefined ? 'nothing' : `wait ${waitMs}`;
}

describe('S22 plans each pull request when its plan may have changed', () => {
  it.each<[name: string, input: Partial<PullChoiceInput>, expected: string]>([
    ['plans nothing without a pull request', {}, 'nothing'],
    ['plans what was never planned', { open: [pull(1)] }, 'plan 1 at h1'],
    ['plans nothing whose plan is at the host', { open: [pull(1)], recorded: [planned(1, 0)] }, 'nothing'],
    [
      'plans a push after ten seconds',
      { open: [pull(1, 'h2')], recorded: [planned(1, 10 * SECOND)] },
      'plan 1 at h2',
    ],
    ['does not plan each push', { open: [pull(1, 'h2')], recorded: [planned(1, 9 * SECOND)] }, 'wait 1000'],
    [
      'plans again for another base after ten minutes',
      { open: [pull(1)], base: 'b2', recorded: [planned(1, 600 * SECOND)] },
      'plan 1 at h1',
    ],
    [
      'waits with another base',
      { open: [pull(1)], base: 'b2', recorded: [planned(1, 599 * SECOND)] },
      'wait 1000',
    ],
    [
      'plans again what it did not know in full',
      { open: [pull(1)], recorded: [planned(1, 600 * SECOND, { isPartial: true })] },
      'plan 1 at h1',
    ],
    [
      'waits with what it did not know in full',
      { open: [pull(1)], recorded: [planned(1, 0, { isPartial: true })] },
      'wait 600000',
    ],
    [
      'plans at once when the clock went back',
      { open: [pull(1, 'h2')], recorded: [planned(1, -SECOND)] },
      'plan 1 at h2',
    ],
    [
      'plans at once when the record has no time',
      { open: [pull(1, 'h2')], recorded: [planned(1, 0, { plannedAt: 'soon' })] },
      'plan 1 at h2',
    ],
    [
      'prefers one that was never planned',
      { open: [pull(1, 'h2'), pull(9)], recorded: [planned(1, 3600 * SECOND)] },
      'plan 9 at h1',
    ],
    [
      'prefers the one with the oldest plan',
      {
        open: [pull(1, 'h2'), pull(2, 'h2')],
        recorded: [planned(1, 30 * SECOND), planned(2, 60 * SECOND)],
      },
      'plan 2 at h2',
    ],
    ['leaves a fork alone', { open: [pull(1, 'h1', true)] }, 'nothing'],
    ['plans a fork that is permitted', { open: [pull(1, 'h1', true)], forks: true }, 'plan 1 at h1'],
    [
      'plans all of the team before a fork, whose plan is older',
      {
        open: [pull(1, 'h1', true), pull(9, 'h2')],
        recorded: [planned(9, 60 * SECOND)],
        forks: true,
      },
      'plan 9 at h2',
    ],
    [
      'plans a fork while those of the team are up to date',
      { open: [pull(1, 'h1', true), pull(9)], recorded: [planned(9, 0)], forks: true },
      'plan 1 at h1',
    ],
    ['waits with one that failed', { open: [pull(1)], blockedForMs: new Map([['1', 5000]]) }, 'wait 5000'],
    [
      'plans another than the one that failed',
      { open: [pull(1), pull(2)], blockedForMs: new Map([['1', 5000]]) },
      'plan 2 at h1',
    ],
  ])('%s', (_, input, expected) => {
    expect(choose(input)).toBe(expected);
  });

  it('forgets pull requests that are closed, and forks that are not permitted any more', () => {
    const recorded = [planned(1, 0), planned(2, 0), planned(3, 0)];
    const input = { base: 'b1', blockedForMs: new Map(), now: NOW, recorded };
    const open = [pull(1), pull(3, 'h1', true)];
    expect(choosePull({ ...input, open, forks: false }).kept).toEqual([planned(1, 0)]);
    expect(choosePull({ ...input, open, forks: true }).kept).toEqual([planned(1, 0), planned(3, 0)]);
  });

  it('has one record of each pull request, in the order of their numbers', () => {
    const next = planned(2, 0, { head: 'h2' });
    expect(withPlanned([planned(2, 5), planned(10, 5)], next)).toEqual([next, planned(10, 5)]);
    expect(withPlanned([planned(10, 5)], next)).toEqual([next, planned(10, 5)]);
  });
});
