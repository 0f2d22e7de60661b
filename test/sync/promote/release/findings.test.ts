import { describe, expect, it } from 'vitest';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { releaseFinding } from '../../../../src/sync/promote/release/findings.ts';
import { type OrderedRelease, orderReleases } from '../../../../src/sync/promote/release/order.ts';
import type { StagePlan } from '../../../../src/sync/promote/stage/stage.ts';
import { NOW } from '../../../rollout/builders.ts';
import { commitsOf, memberOf, releaseOf, rolloutsOf } from '../builders.ts';
import { stageOf } from '../simulation/simulation.ts';

const WAIT = { reason: 'StageBusy', because: 'stage prod is busy with fleet-c1' };

function ordered(...stages: readonly string[]): readonly OrderedRelease[] {
  const history = createCommitHistory(commitsOf(...stages.map(() => ({}))));
  return orderReleases(
    stages.map((text, index) => releaseOf(`c${index + 1}`, text)),
    history,
  );
}

function planWith(name: string, plan: Partial<StagePlan> = {}): StagePlan {
  const rollouts = plan.rollouts ?? [];
  return {
    stage: stageOf({ name }),
    members: rollouts.map(({ member }) => member),
    current: undefined,
    rollouts,
    rollout: undefined,
    starts: new Map(),
    proven: undefined,
    nextCandidate: undefined,
    limit: undefined,
    ...plan,
  };
}

function states(
  release: OrderedRelease | undefined,
  plans: readonly StagePlan[],
  all: readonly OrderedRelease[],
) {
  if (!release) throw new Error('expected a Release');
  const { stages, supersededBy } = releaseFinding(release, plans, all, NOW);
  return [...stages.map(({ state }) => state), ...(supersededBy ? [`by ${supersededBy}`] : [])].join(' ');
}

describe('releaseFinding', () => {
  it('is in progress in the stage that is on it, and waits for the stage before', () => {
    const all = ordered('');
    const [release] = all;
    const plans = [
      planWith('test', {
        current: release,
        rollout: { state: 'Soaking', wait: WAIT },
        rollouts: rolloutsOf('Soaking'),
      }),
      planWith('pre'),
      planWith('prod'),
    ];
    expect(states(release, plans, all)).toBe('Soaking Waiting Pending');
  });

  it('waits as a candidate for the reason that its stage names', () => {
    const all = ordered('test=Proven prod=Promoting', 'test=Proven');
    const [older, newer] = all;
    if (!older || !newer) throw new Error('expected two Releases');
    const plans = [
      planWith('test', { current: newer, rollout: { state: 'Proven' } }),
      planWith('prod', {
        current: older,
        rollout: { state: 'Promoting', wait: WAIT },
        waiting: { release: newer, wait: WAIT },
      }),
    ];
    expect(states(newer, plans, all)).toBe('Proven Waiting');
    expect(releaseFinding(newer, plans, all, NOW).stages[1]?.wait).toBe(WAIT);
    expect(states(older, plans, all)).toBe('Proven Promoting');
  });

  it('is superseded where a newer Release is ahead of it', () => {
    const all = ordered('', '');
    const [older, newer] = all;
    const plans = [
      planWith('test', { current: newer, rollout: { state: 'Promoting', wait: WAIT } }),
      planWith('prod'),
    ];
    expect(states(older, plans, all)).toBe('Superseded Superseded by fleet-c2');
  });

  it('is proven in a stage that replaced it after its proof', () => {
    const all = ordered('prod=Promoting', '');
    const [older, newer] = all;
    if (!older || !newer) throw new Error('expected two Releases');
    const replaced = {
      release: older,
      rollouts: rolloutsOf('Proven'),
      rollout: { state: 'Proven' as const },
    };
    const plans = [
      planWith('prod', { current: newer, rollout: { state: 'Promoting', wait: WAIT }, replaced }),
    ];
    expect(states(older, plans, all)).toBe('Proven');
  });

  it('does not count a cluster that git removed in a stage that has not started', () => {
    const all = ordered('');
    const [release] = all;
    if (!release) throw new Error('expected a Release');
    const block = { state: 'Removed', reason: 'RemovedFromGit', because: 'removed' } as const;
    const members = [memberOf(), memberOf({ name: 'ci', block }), memberOf({ name: 'y' })];
    const plans = [planWith('test', { current: release }), planWith('prod', { members })];
    expect(releaseFinding(release, plans, all, NOW).stages[1]?.clusters).toEqual({ total: 2, pending: 2 });
  });

  it('names the failed clusters of the stages that are on it', () => {
    const all = ordered('');
    const [release] = all;
    if (!release) throw new Error('expected a Release');
    const spent = { reason: 'FailureBudgetSpent', because: 'clusters failed in prod: 1, allowed: 0 (x2)' };
    const plans = [
      planWith('prod', {
        current: release,
        rollout: { state: 'Failed', wait: spent },
        rollouts: rolloutsOf('Proven', 'Failed'),
      }),
    ];
    const { failed, stalled } = releaseFinding(release, plans, all, NOW);
    expect(failed).toEqual([
      { name: 'x2', stage: 'prod', reason: 'IsFailed', message: 'it is Failed', since: NOW.toISOString() },
    ]);
    expect(stalled).toBe(spent);
  });

  it.each([
    ['a held plan', 'Held', 'IsHeld'],
    ['a blocked cluster', 'Blocked', 'IsBlocked'],
  ] as const)('is stalled by %s', (_, state, expected) => {
    const all = ordered('');
    const [release] = all;
    if (!release) throw new Error('expected a Release');
    const plans = [
      planWith('prod', {
        current: release,
        rollout: { state: 'Promoting', wait: WAIT },
        rollouts: rolloutsOf(state),
      }),
    ];
    expect(releaseFinding(release, plans, all, NOW).stalled?.reason).toBe(expected);
  });
});
