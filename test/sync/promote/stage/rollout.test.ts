import { describe, expect, it } from 'vitest';
import type { ClusterRolloutState } from '../../../../src/sync/promote/cluster/rollout-state.ts';
import {
  countClusters,
  failedClusters,
  isReplaceable,
  nextRequeue,
  stageRollout,
} from '../../../../src/sync/promote/stage/rollout.ts';
import { checkOf, later, NOW } from '../../../rollout/builders.ts';
import { rolloutsOf } from '../builders.ts';
import {
  prodClusters,
  prodStage,
  runningContent,
  runUntilProven,
  soakClocks,
  stageStates,
  stageStatus,
  writtenCommits,
} from '../simulation/queries.ts';
import { DAY, HOUR, MINUTE, PromotionSimulation, SECOND, stageOf } from '../simulation/simulation.ts';

function parseStates(text: string): readonly ClusterRolloutState[] {
  return text.split(' ').filter((word) => word !== '') as readonly ClusterRolloutState[];
}

describe('stageRollout', () => {
  it.each<[states: string, expected: string]>([
    ['', 'Promoting NoClusters'],
    ['Proven', 'Proven'],
    ['Proven Proven', 'Proven'],
    ['Proven Soaking', 'Soaking IsSoaking'],
    ['Soaking Applying', 'Promoting IsApplying'],
    ['Soaking NotStarted', 'Promoting IsNotStarted'],
    ['Proven Paused', 'Proven'],
    ['Proven Skipped', 'Proven'],
    ['Proven Ahead', 'Proven'],
    ['Paused Skipped Ahead', 'Promoting IsPaused'],
    ['Proven Failed', 'Proven'],
    ['Failed', 'Promoting IsFailed'],
    ['Proven Failed FailedBefore', 'Failed FailureBudgetSpent'],
    ['Proven Skipped Skipped', 'Promoting TooManySkipped'],
    ['Proven Unreachable', 'Promoting IsUnreachable'],
    ['Proven NotObserved', 'Promoting IsNotObserved'],
    ['Proven Blocked Applying', 'Promoting IsBlocked'],
    ['Proven Held Blocked', 'Promoting IsHeld'],
    ['Proven NotRendered NotStarted', 'Promoting IsNotRendered'],
  ])('decides for clusters in %j: %s', (states, expected) => {
    const stage = stageOf({
      name: 'prod',
      maxFailedClusters: 1,
      unreachable: { graceSeconds: 60, maxSkipped: 1 },
    });
    const { state, wait } = stageRollout(rolloutsOf(...parseStates(states)), stage);
    expect([state, ...(wait ? [wait.reason] : [])].join(' ')).toBe(expected);
  });

  it('names the first cluster that explains the wait, and the end of the last soak', () => {
    const [first, second] = rolloutsOf('Soaking', 'Soaking').map((rollout, index) => ({
      ...rollout,
      until: later(60 * (index + 1)),
    }));
    expect(stageRollout(first && second ? [first, second] : [], stageOf({ name: 'prod' })).wait).toEqual({
      reason: 'IsSoaking',
      because: 'x1: it is Soaking',
      blocker: { kind: 'Cluster', name: 'x1' },
      until: later(120),
    });
  });
});

describe('isReplaceable', () => {
  it.each<[states: string, expected: boolean]>([
    ['Applying', false],
    ['Soaking Proven', false],
    ['NotStarted', false],
    ['Unreachable', false],
    ['Failed Applying', false],
    ['Failed FailedBefore Applying', true],
    ['Failed', true],
    ['Paused Skipped Ahead', true],
    ['Blocked', true],
  ])('decides for clusters in %j: %s', (states, expected) => {
    const stage = stageOf({ name: 'prod', maxFailedClusters: 1 });
    expect(isReplaceable(rolloutsOf(...parseStates(states)), stage)).toBe(expected);
  });

  it('lets a commit with errors be replaced', () => {
    const [rollout] = rolloutsOf('Applying');
    if (!rollout) throw new Error('expected a rollout');
    const progress = { ...rollout.member.progress, failing: true };
    const failing = { ...rollout, member: { ...rollout.member, progress } };
    expect(isReplaceable([failing], stageOf({ name: 'prod' }))).toBe(true);
    expect(isReplaceable([{ ...failing, hasContent: false }], stageOf({ name: 'prod' }))).toBe(false);
  });
});

describe('countClusters', () => {
  it('counts every state once', () => {
    const states = parseStates(
      'NotStarted Applying Soaking Proven Failed Held FailedBefore Ahead NotRendered Paused Blocked NotObserved Unreachable Skipped',
    );
    expect(countClusters(rolloutsOf(...states), 'c1')).toEqual({
      total: 14,
      pending: 4,
      applying: 2,
      soaking: 1,
      proven: 1,
      unchanged: 0,
      failed: 2,
      unreachable: 1,
      skipped: 3,
    });
    expect(failedClusters(rolloutsOf('Proven', 'Failed', 'FailedBefore'))).toEqual(['x2', 'x3']);
  });

  it.each([
    ['a removed cluster beside proven ones', 'Proven Removed Proven', { total: 2, proven: 2, skipped: 0 }],
    ['removed clusters only', 'Removed Removed', { total: 0, proven: 0, skipped: 0 }],
  ])('does not count %s: git does not declare it any more', (_, states, expected) => {
    expect(countClusters(rolloutsOf(...parseStates(states)), 'c1')).toMatchObject(expected);
  });
});

describe('nextRequeue', () => {
  it('is the first moment in the future', () => {
    const [past, soon, late] = rolloutsOf('Soaking', 'Soaking', 'Soaking');
    const rollouts = [
      ...(past ? [{ ...past, until: later(-1) }] : []),
      ...(late ? [{ ...late, until: later(90) }] : []),
      ...(soon ? [{ ...soon, until: later(30) }] : []),
    ];
    expect(nextRequeue(rollouts, NOW)).toEqual(later(30));
    expect(nextRequeue(rollouts.slice(0, 1), NOW)).toBeUndefined();
  });
});

const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

describe('S33 skips the soak of a revert to a proven digest', () => {
  const slow = STAGES.map((each) => ({ ...each, soakSeconds: 86_400 }));

  function failing(version: (name: string) => string): PromotionSimulation {
    const sim = new PromotionSimulation({ stages: slow });
    sim.push('c1', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c1');
    sim.push('c2', {
      test: { app: version('test') },
      pre: { app: version('pre') },
      prod: { app: version('prod') },
    });
    sim.run(3 * DAY);
    return sim;
  }

  it.each([
    ['prod fails and test is healthy', (name: string) => (name === 'prod' ? 'bad2' : 'v2')],
    ['the first stage fails', () => 'bad2'],
  ])('reverts every stage without a soak when %s', (_, version) => {
    const sim = failing(version);
    sim.push('c3', { '*': { app: 'v1' } });
    const began = sim.now;
    sim.run(DAY, () => sim.release('c3').status?.finishedAt !== undefined);
    expect(stageStates(sim, 'c3')).toBe('Proven Proven Proven');
    // Three stages at 30 s of rollout each, and no soak.
    expect(sim.now - began).toBeLessThanOrEqual(90 * SECOND + 60 * SECOND);
    for (const name of ['test-1', 'pre-1', 'prod-1']) expect(runningContent(sim, name)).toBe('app=v1');
  });

  it('still runs the checks once', () => {
    const checks = [checkOf({ name: 'errors' })];
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600, checks }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(2 * HOUR);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(MINUTE);
    sim.checkResult = () => 'Failed';
    sim.push('c3', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    expect(stageStatus(sim, 'c3', 'prod')).toMatchObject({ state: 'Failed' });
  });

  it('replaces a healthy soak only by a commit that returns to proven digests', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 7200 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1', base: 'v1' } });
    sim.run(3 * HOUR);
    sim.push('c2', { prod: { app: 'v2', base: 'v1' } });
    sim.run(HOUR);
    sim.push('c3', { prod: { app: 'v1', base: 'v3' } });
    sim.run(HOUR);
    expect(stageStatus(sim, 'c3', 'prod').waiting?.reason).toBe('StageBusy');
    sim.push('c4', { prod: { app: 'v1', base: 'v1' } });
    sim.run(MINUTE);
    expect(stageStatus(sim, 'c4', 'prod').state).toBe('Proven');
    expect(stageStatus(sim, 'c2', 'prod').state).toBe('Superseded');
  });

  it('soaks a digest that failed after its proof', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(2 * HOUR);
    sim.cluster('prod-1').unhealthy = 'Failed';
    sim.run(MINUTE);
    sim.cluster('prod-1').unhealthy = 'No';
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(2 * HOUR);
    sim.push('c3', { prod: { app: 'v1' } });
    sim.run(50 * MINUTE);
    expect(soakClocks(sim, 'prod-1').map(({ unit }) => unit)).toEqual(['app']);
    expect(stageStatus(sim, 'c3', 'prod').state).not.toBe('Proven');
    sim.run(HOUR);
    expect(stageStatus(sim, 'c3', 'prod').state).toBe('Proven');
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1', 'c2', 'c3']);
  });

  it('soaks only unit B after a bad change of A, a good change of B and a revert of A', () => {
    const stages = [{ name: 'prod', soakSeconds: 3600, maxConcurrentClusters: 2 }];
    const sim = new PromotionSimulation({ stages, clusters: ['prod-1', 'prod-2'] });
    sim.push('c1', { prod: { a: 'v1', b: 'v1' } });
    sim.run(2 * HOUR);
    // On prod-2 the change of A fails; prod-1 runs both changes for 30 minutes.
    sim.push('c2', { 'prod-1': { a: 'v2', b: 'v2' }, 'prod-2': { a: 'bad2', b: 'v2' } });
    sim.run(30 * MINUTE);
    const soaking = soakClocks(sim, 'prod-1');
    const bSince = soaking.find(({ unit }) => unit === 'b')?.since;
    expect(soaking.map(({ unit }) => unit)).toEqual(['a', 'b']);
    sim.push('c3', { prod: { a: 'v1', b: 'v2' } });
    sim.run(MINUTE);
    expect(soakClocks(sim, 'prod-1')).toEqual([{ unit: 'b', digest: 'v2', since: bSince }]);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Soaking');
  });
});

describe('S35 proves a stage over failures within the budget', () => {
  it('proves the stage if the failures are within the budget', () => {
    const stages = [
      { name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: '50%' as const, soakSeconds: 60 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(4) });
    sim.push('c1', { prod: { app: 'v1' }, 'prod-001': { app: 'bad1' }, 'prod-002': { app: 'bad1' } });
    sim.run(HOUR);
    expect(prodStage(sim, 'c1')).toMatchObject({ state: 'Proven', clusters: { failed: 2, proven: 2 } });
  });

  it('never proves a stage in which every cluster failed, whatever the budget', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: 4 }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(4) });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(HOUR);
    expect(prodStage(sim, 'c1').state).not.toBe('Proven');
  });
});

describe('S37 waits for unreachable clusters only for the grace of the stage', () => {
  const stages = [{ name: 'prod', maxConcurrentClusters: '100%' as const, soakSeconds: 60 }];

  function down(
    count: number,
    away: readonly string[],
    unreachable = { graceSeconds: 3600, maxSkipped: '10%' as number | `${number}%` },
  ): PromotionSimulation {
    const sim = new PromotionSimulation({
      stages: [{ ...stages[0], name: 'prod', unreachable }],
      clusters: prodClusters(count),
    });
    for (const name of away) sim.cluster(name).reachable = false;
    return sim;
  }

  it('proves a stage of 20 with 2 unreachable and 1 paused after the grace, not before', () => {
    const sim = down(20, ['prod-004', 'prod-009']);
    sim.cluster('prod-012').paused = true;
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR - SECOND);
    expect(prodStage(sim, 'c1')).toMatchObject({
      state: 'Promoting',
      waiting: { reason: 'Unreachable', blocker: { name: 'prod-004' } },
    });
    sim.run(SECOND);
    expect(prodStage(sim, 'c1')).toMatchObject({
      state: 'Proven',
      clusters: { total: 20, proven: 17, skipped: 3 },
    });
    expect(sim.cluster('prod-012').status?.sync?.state).toBe('Paused');
    expect(sim.cluster('prod-004').status?.sync?.state).toBe('Skipped');
  });

  it('holds a stage of 20 with 11 unreachable and a limit of 5, and names them', () => {
    const sim = down(20, prodClusters(11), { graceSeconds: 60, maxSkipped: 5 });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(prodStage(sim, 'c1')).toMatchObject({ state: 'Promoting', waiting: { reason: 'TooManySkipped' } });
    expect(prodStage(sim, 'c1').waiting?.message).toContain('prod-001, prod-002');
    expect(sim.release('c1').status?.phase).toBe('Stalled');
  });

  it.each([
    ['unreachable', false],
    ['paused', true],
  ])('never proves a stage whose clusters are all %s', (_, paused) => {
    const sim = down(4, paused ? [] : prodClusters(4), { graceSeconds: 60, maxSkipped: 4 });
    for (const cluster of sim.clusters.values()) cluster.paused = paused;
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(6 * HOUR);
    expect(prodStage(sim, 'c1').state).not.toBe('Proven');
    expect(sim.writes).toEqual([]);
  });
});
