import { describe, expect, it } from 'vitest';
import type { ClusterSync } from '../../../../src/api/generated/types.ts';
import type { Limit } from '../../../../src/rollout/limit.ts';
import type { ClusterRollout } from '../../../../src/sync/promote/cluster/rollout.ts';
import type { ClusterRolloutState } from '../../../../src/sync/promote/cluster/rollout-state.ts';
import { afterStart, chooseStarts, withLostSlots } from '../../../../src/sync/promote/stage/starts.ts';
import { contextOf, memberOf, rolloutsOf } from '../builders.ts';
import { prodClusters, prodStage, watchMaxBusy, writtenClusters } from '../simulation/queries.ts';
import { HOUR, PromotionSimulation, SECOND, stageOf } from '../simulation/simulation.ts';

const REQUEST = {
  pipeline: new PromotionSimulation().pipeline,
  stage: stageOf({ name: 'prod', maxConcurrentClusters: 2, maxFailedClusters: 1 }),
  unassigned: [],
  commit: 'c2',
  context: contextOf(),
};

describe('chooseStarts', () => {
  it.each<[states: string, expected: string]>([
    ['NotStarted NotStarted NotStarted', 'x1 x2, then StageFull'],
    ['NotStarted Proven', 'x1, then StageFull'],
    ['Proven', ', then StageFull'],
    ['Failed NotStarted', 'x2, then StageFull'],
    ['Failed Failed NotStarted', ', then FailureBudgetSpent'],
    ['Paused Skipped NotStarted', 'x3, then StageFull'],
  ])('decides for clusters in %j: %s', (states, expected) => {
    const rollouts = rolloutsOf(...(states.split(' ') as readonly ClusterRolloutState[]));
    const { starts, limit } = chooseStarts(rollouts, REQUEST);
    expect(`${[...starts.keys()].join(' ')}, then ${limit.reason}`).toBe(expected);
  });

  it('takes unfinished content of a replaced commit first, then failed clusters, then the rest', () => {
    const [rest, failed, unfinished] = rolloutsOf('NotStarted', 'NotStarted', 'NotStarted').map(
      (rollout, index) => {
        const state = (['Proven', 'Failed', 'Applying'] as const)[index] ?? 'Proven';
        const progress = { ...rollout.member.progress, state };
        return { ...rollout, hasContent: false, member: { ...rollout.member, progress } };
      },
    );
    const rollouts = [rest, failed, unfinished].filter((rollout) => rollout !== undefined);
    expect([...chooseStarts(rollouts, REQUEST).starts.keys()]).toEqual(['x3', 'x2']);
  });
});

/** Clusters x1, x2, … that are being written, recorded in these states before this reconcile. */
function writtenAfter(states: string): readonly ClusterRollout[] {
  return states.split(' ').map((state, index) => {
    const sync = { state: state as NonNullable<ClusterSync['state']>, renderedDigest: 'a1' };
    const { progress } = memberOf();
    const member = memberOf({
      name: `x${index + 1}`,
      recorded: sync,
      progress: { ...progress, state: 'Applying', sync },
    });
    return {
      member,
      state: 'Applying',
      hasContent: true,
      digest: 'a1',
      reason: 'Applying',
      because: 'is written',
    };
  });
}

describe('withLostSlots', () => {
  it.each<[recorded: string, lost: string, waits?: string]>([
    ['Unreachable Applying', ''],
    ['Unreachable Applying Soaking', 'x1'],
    ['Unreachable Unreachable Applying', 'x2'],
    ['Unreachable Unreachable Applying Applying', 'x1 x2'],
    ['Applying Applying Applying', ''],
    ['Paused Applying Applying', '', 'x1'],
  ])(
    'S23 takes the slot from clusters that return while too many are busy: recorded as %s',
    (recorded, lost, waits = lost) => {
      const found = withLostSlots(writtenAfter(recorded), REQUEST);
      const names = found.filter(({ hasLostSlot }) => hasLostSlot === true).map(({ member }) => member.name);
      expect(names.join(' ')).toBe(lost);
      const { starts, limit } = chooseStarts(found, REQUEST);
      const waiting = found.filter((rollout) => afterStart(rollout, starts, limit).state === 'NotStarted');
      expect(waiting.map(({ member }) => member.name).join(' ')).toBe(waits);
    },
  );

  it('S36 lets a cluster that was away in the middle go on while the stage is closed, and starts no other one', () => {
    const windows = [
      { name: 'never', days: ['Mon'] as const, start: '00:00', end: '00:01', timeZone: 'UTC' },
    ];
    const closed = {
      ...REQUEST,
      stage: { ...REQUEST.stage, windows, revertPasses: { windows: false, freezes: false } },
    };
    const [returned] = writtenAfter('Paused');
    const [fresh] = rolloutsOf('NotStarted');
    if (!returned || !fresh) throw new Error('expected two rollouts');
    const next = { ...fresh, hasContent: false, member: { ...fresh.member, name: 'x2' } };
    const { starts, limit, limitFor } = chooseStarts([returned, next], closed);
    expect([...starts.keys()]).toEqual(['x1']);
    expect([limit.reason, limitFor(returned).reason]).toEqual(['OutsideWindow', 'StageFull']);
  });

  it('leaves the slot to a cluster that does not answer yet', () => {
    const away = { state: 'Unknown' } as const;
    const rollouts = writtenAfter('Unreachable Applying Applying').map((each) => ({
      ...each,
      member: { ...each.member, reachability: away },
    }));
    expect(withLostSlots(rollouts, REQUEST)).toEqual(rollouts);
  });
});

describe('afterStart', () => {
  const limit = { slots: 0, reason: 'StageFull', because: 'clusters busy in prod: 2, allowed: 2' };
  const spent = { ...limit, reason: 'FailureBudgetSpent' };

  it.each<[name: string, state: ClusterRolloutState, starts: boolean, limit: Limit, expected: string]>([
    ['a cluster that starts', 'NotStarted', true, limit, 'Applying Applying'],
    ['a cluster that has to wait', 'NotStarted', false, limit, 'NotStarted StageFull'],
    ['a proven cluster', 'Proven', false, limit, 'Proven IsProven'],
    ['a held plan', 'Held', false, limit, 'Held IsHeld'],
    ['a held plan after the budget is spent', 'Held', false, spent, 'NotStarted FailureBudgetSpent'],
  ])('shows %s as it is then', (...[, state, starts, tightest, expected]) => {
    const [rollout] = rolloutsOf(state);
    if (!rollout) throw new Error('expected a rollout');
    const found = afterStart(rollout, new Map(starts ? [['x1', 'started in stage prod']] : []), tightest);
    expect(`${found.state} ${found.reason}`).toBe(expected);
  });
});

it('S36 a cluster that waits for a window shows until when', () => {
  const [rollout] = rolloutsOf('NotStarted');
  const until = new Date('2030-01-02T08:00:00Z');
  const closed = { slots: 0, reason: 'OutsideWindow', because: 'closed', until };
  expect(rollout && afterStart(rollout, new Map(), closed).until).toEqual(until);
});

describe('S23 limits the clusters of a stage that are busy at one time', () => {
  it('writes a bad version to no more clusters than may be busy, of 200', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 5, soakSeconds: 600 }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(200) });
    const most = watchMaxBusy(sim);
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(HOUR);
    expect(writtenClusters(sim, 'c1')).toEqual(prodClusters(5));
    expect(most()).toBe(5);
    expect(prodStage(sim, 'c1')).toMatchObject({
      state: 'Failed',
      clusters: { total: 200, failed: 5, pending: 195 },
    });
    expect(sim.release('c1').status?.failedClusters?.map(({ name }) => name)).toEqual(prodClusters(5));
  });

  it.each([
    [1, 1],
    ['25%', 2],
    ['1%', 1],
    ['100%', 8],
  ] as const)(
    'keeps, of 8 clusters with maxConcurrentClusters %s, at most %s busy',
    (maxConcurrentClusters, expected) => {
      const stages = [{ name: 'prod', maxConcurrentClusters, soakSeconds: 60 }];
      const sim = new PromotionSimulation({ stages, clusters: prodClusters(8) });
      const most = watchMaxBusy(sim);
      sim.push('c1', { prod: { app: 'v1' } });
      sim.run(2 * HOUR);
      expect(most()).toBe(expected);
      expect(prodStage(sim, 'c1').state).toBe('Proven');
      expect(writtenClusters(sim, 'c1')).toEqual(prodClusters(8));
    },
  );

  it('keeps order and limit through a restart at every step', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 60 }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(6) });
    const most = watchMaxBusy(sim);
    sim.push('c1', { prod: { app: 'v1' } });
    for (let step = 0; step < 40; step++) {
      sim.run(13 * SECOND);
      sim.reconcile(step % 12);
      sim.restart();
    }
    sim.run(HOUR);
    expect(most()).toBe(2);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('names the limit in the status of a waiting cluster', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: prodClusters(3) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.settle();
    expect(sim.cluster('prod-002').status?.sync).toMatchObject({
      state: 'Pending',
      message: 'clusters busy in prod: 1, allowed: 1',
    });
  });

  it('lets a returning cluster wait while others use the slots', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(2),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(20 * SECOND);
    sim.cluster('prod-001').paused = true;
    sim.run(20 * SECOND);
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Applying');
    sim.cluster('prod-001').paused = false;
    sim.run(20 * SECOND);
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Pending');
    expect(sim.cluster('prod-001').target?.mode).toBe('Observe');
    sim.run(2 * HOUR);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });
});
