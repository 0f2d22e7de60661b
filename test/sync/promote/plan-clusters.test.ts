/** Inside one stage: order, budgets, clusters that are away, restarts. */
import { describe, expect, it } from 'vitest';
import type { ReleaseStage } from '../../../src/api/generated/types.ts';
import { checkOf } from '../../rollout/builders.ts';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from './simulation/simulation.ts';

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `prod-${String(index + 1).padStart(3, '0')}`);
}

function prod(sim: PromotionSimulation, commit: string): ReleaseStage {
  const found = sim.release(commit).status?.stages?.find(({ name }) => name === 'prod');
  if (!found) throw new Error('no stage prod');
  return found;
}

/** Clusters that were written for a commit, in the order of their first write. */
function touched(sim: PromotionSimulation, commit: string): string[] {
  return [...new Set(sim.writes.filter((write) => write.commit === commit).map(({ cluster }) => cluster))];
}

/** The most that were busy at one time, by what the clusters themselves say. */
function watchBusy(sim: PromotionSimulation): () => number {
  let most = 0;
  const before = sim.onReconcile;
  sim.onReconcile = (plan) => {
    before(plan);
    const busy = [...sim.clusters.values()].filter(
      ({ status }) => status?.sync?.state === 'Applying' || status?.sync?.state === 'Soaking',
    );
    most = Math.max(most, busy.length);
  };
  return () => most;
}

describe('S23 limits the clusters of a stage that are busy at one time', () => {
  it('touches no more clusters than may be busy with a bad version, of 200', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 5, soakSeconds: 600 }];
    const sim = new PromotionSimulation({ stages, clusters: many(200) });
    const most = watchBusy(sim);
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(HOUR);
    expect(touched(sim, 'c1')).toEqual(many(5));
    expect(most()).toBe(5);
    expect(prod(sim, 'c1')).toMatchObject({
      state: 'Failed',
      clusters: { total: 200, failed: 5, pending: 195 },
    });
    expect(sim.release('c1').status?.failedClusters?.map(({ name }) => name)).toEqual(many(5));
  });

  it.each([
    [1, 1],
    ['25%', 2],
    ['1%', 1],
    ['100%', 8],
  ] as const)(
    'of 8 clusters with maxConcurrentClusters %s at most %s are busy',
    (maxConcurrentClusters, wanted) => {
      const stages = [{ name: 'prod', maxConcurrentClusters, soakSeconds: 60 }];
      const sim = new PromotionSimulation({ stages, clusters: many(8) });
      const most = watchBusy(sim);
      sim.push('c1', { prod: { app: 'v1' } });
      sim.run(2 * HOUR);
      expect(most()).toBe(wanted);
      expect(prod(sim, 'c1').state).toBe('Proven');
      expect(touched(sim, 'c1')).toEqual(many(8));
    },
  );

  it('keeps its place and its limit through a restart at every step', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 60 }];
    const sim = new PromotionSimulation({ stages, clusters: many(6) });
    const most = watchBusy(sim);
    sim.push('c1', { prod: { app: 'v1' } });
    for (let step = 0; step < 40; step++) {
      sim.run(13 * SECOND);
      sim.reconcile(step % 12);
      sim.restart();
    }
    sim.run(HOUR);
    expect(most()).toBe(2);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('names the limit in what waits', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: many(3) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.settle();
    expect(sim.cluster('prod-002').status?.sync).toMatchObject({
      state: 'Pending',
      message: 'clusters busy in prod: 1, allowed: 1',
    });
  });
});

describe('S35 starts no further cluster when the failure budget is spent', () => {
  it('stops 100 clusters with a budget of 2 at the third failure', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: 2, soakSeconds: 60 }];
    const sim = new PromotionSimulation({ stages, clusters: many(100) });
    const bad = Object.fromEntries(
      ['prod-003', 'prod-007', 'prod-011', 'prod-040'].map((name) => [name, { app: 'bad1' }]),
    );
    sim.push('c1', { prod: { app: 'v1' }, ...bad });
    sim.run(12 * HOUR);
    expect(prod(sim, 'c1').state).toBe('Failed');
    // The third failure is prod-011; at most three more were under way with it.
    expect(touched(sim, 'c1').length).toBeLessThanOrEqual(14);
    expect(
      sim.release('c1').status?.failedClusters?.map(({ name, reason, stage }) => [name, reason, stage]),
    ).toEqual([
      ['prod-003', 'ProgressDeadlineExceeded', 'prod'],
      ['prod-007', 'ProgressDeadlineExceeded', 'prod'],
      ['prod-011', 'ProgressDeadlineExceeded', 'prod'],
    ]);
    expect(sim.release('c1').status?.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'FailureBudgetSpent',
      message: 'clusters failed in prod: 3, allowed: 2 (prod-003, prod-007, prod-011)',
    });
    expect(sim.release('c1').status?.phase).toBe('Failed');
  });

  it('is proven over failures within the budget', () => {
    const stages = [
      { name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: '50%' as const, soakSeconds: 60 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: many(4) });
    sim.push('c1', { prod: { app: 'v1' }, 'prod-001': { app: 'bad1' }, 'prod-002': { app: 'bad1' } });
    sim.run(HOUR);
    expect(prod(sim, 'c1')).toMatchObject({ state: 'Proven', clusters: { failed: 2, proven: 2 } });
  });

  it('is not proven when all that was not skipped has failed, whatever the budget', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: 4 }];
    const sim = new PromotionSimulation({ stages, clusters: many(4) });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(HOUR);
    expect(prod(sim, 'c1').state).not.toBe('Proven');
  });

  it('lets clusters under way finish', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 600 }];
    const sim = new PromotionSimulation({ stages, clusters: many(3) });
    sim.push('c1', { prod: { app: 'v1' }, 'prod-001': { app: 'bad1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Proven');
    expect(touched(sim, 'c1')).toEqual(['prod-001', 'prod-002']);
  });

  it('does not let a held plan begin after the budget is spent', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2 }];
    const sim = new PromotionSimulation({ stages, clusters: many(2) });
    sim.cluster('prod-001').trouble = 'Held';
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    sim.cluster('prod-001').trouble = 'None';
    sim.run(10 * MINUTE);
    expect(touched(sim, 'c1')).toEqual(['prod-002']);
  });

  it('keeps a failure of a cluster that goes out of reach in the count', () => {
    const stages = [{ name: 'prod', unreachable: { graceSeconds: 60, maxSkipped: 3 } }];
    const sim = new PromotionSimulation({ stages, clusters: many(3) });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    sim.cluster('prod-001').reachable = false;
    sim.run(HOUR);
    expect(touched(sim, 'c1')).toEqual(['prod-001']);
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
      clusters: many(count),
    });
    for (const name of away) sim.cluster(name).reachable = false;
    return sim;
  }

  it('of 20, 2 black-holed and 1 paused: proven after the grace, not before', () => {
    const sim = down(20, ['prod-004', 'prod-009']);
    sim.cluster('prod-012').paused = true;
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR - SECOND);
    expect(prod(sim, 'c1')).toMatchObject({
      state: 'Promoting',
      waiting: { reason: 'Unreachable', blocker: { name: 'prod-004' } },
    });
    sim.run(SECOND);
    expect(prod(sim, 'c1')).toMatchObject({
      state: 'Proven',
      clusters: { total: 20, proven: 17, skipped: 3 },
    });
    expect(sim.cluster('prod-012').status?.sync?.state).toBe('Paused');
    expect(sim.cluster('prod-004').status?.sync?.state).toBe('Skipped');
  });

  it('of 20, 11 black-holed with a limit of 5: held, with names', () => {
    const sim = down(20, many(11), { graceSeconds: 60, maxSkipped: 5 });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(prod(sim, 'c1')).toMatchObject({ state: 'Promoting', waiting: { reason: 'TooManySkipped' } });
    expect(prod(sim, 'c1').waiting?.message).toContain('prod-001, prod-002');
    expect(sim.release('c1').status?.phase).toBe('Stalled');
  });

  it.each([
    ['all of them unreachable', false],
    ['all of them paused', true],
  ])('%s: never proven', (_, paused) => {
    const sim = down(4, paused ? [] : many(4), { graceSeconds: 60, maxSkipped: 4 });
    for (const cluster of sim.clusters.values()) cluster.paused = paused;
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(6 * HOUR);
    expect(prod(sim, 'c1').state).not.toBe('Proven');
    expect(sim.writes).toEqual([]);
  });

  it('a cluster that returns goes straight to the commit that its stage has, through the gates', () => {
    const sim = down(3, ['prod-002'], { graceSeconds: 60, maxSkipped: 1 });
    for (const id of ['c1', 'c2', 'c3']) {
      sim.push(id, { prod: { app: id } });
      sim.run(10 * MINUTE);
    }
    expect(prod(sim, 'c3').state).toBe('Proven');
    sim.cluster('prod-002').reachable = true;
    sim.run(40 * SECOND);
    expect(sim.cluster('prod-002').status?.sync).toMatchObject({ state: 'Soaking', commit: 'c3' });
    expect(sim.writes.filter(({ cluster }) => cluster === 'prod-002').map(({ commit }) => commit)).toEqual([
      'c3',
    ]);
    sim.run(10 * MINUTE);
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Proven');
  });

  it('one that flaps every 30 s for an hour is applied once, and never goes back', () => {
    const sim = down(2, []);
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(5 * MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(15 * SECOND);
    for (let flap = 0; flap < 120; flap++) {
      const cluster = sim.cluster('prod-001');
      cluster.reachable = !cluster.reachable;
      sim.run(30 * SECOND);
    }
    sim.cluster('prod-001').reachable = true;
    sim.run(10 * MINUTE);
    expect(sim.writes.filter(({ cluster }) => cluster === 'prod-001').map(({ commit }) => commit)).toEqual([
      'c1',
      'c2',
    ]);
    expect(prod(sim, 'c2').state).toBe('Proven');
  });

  it('one that returns while others have its place waits for one', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(2) });
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
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('a paused cluster is not on its way to a bad commit when it is paused no more', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(10 * MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(5 * SECOND);
    sim.cluster('prod-001').paused = true;
    sim.settle();
    sim.push('c3', { prod: { app: 'v3' } });
    sim.run(10 * MINUTE);
    sim.cluster('prod-001').paused = false;
    sim.run(10 * MINUTE);
    expect(sim.writes.map(({ commit }) => commit)).toEqual(['c1', 'c2', 'c3']);
  });
});

describe('S39 survives restarts, unobserved health and restored backups', () => {
  it('does not count time in which health was not seen for more than two minutes', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(5 * MINUTE);
    sim.cluster('prod-001').unhealthy = 'Unknown';
    sim.run(20 * MINUTE);
    sim.cluster('prod-001').unhealthy = 'No';
    sim.run(330 * SECOND - SECOND);
    expect(prod(sim, 'c1').state).toBe('Soaking');
    sim.run(MINUTE + SECOND);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('counts a gap of less than two minutes', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(90 * SECOND);
    sim.restart();
    sim.now += 50 * SECOND;
    sim.run(490 * SECOND);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('does not count time in which health was seen not to be good, however short', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    const cluster = sim.cluster('prod-001');
    for (let minute = 0; minute < 30; minute++) {
      cluster.unhealthy = 'Progressing';
      sim.run(50 * SECOND);
      cluster.unhealthy = 'No';
      sim.run(10 * SECOND);
    }
    expect(prod(sim, 'c1').state).toBe('Soaking');
    // Each time at most the minute between two writes is soaked again.
    sim.run(10 * MINUTE);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('counts time in which health could not be seen, up to two minutes', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    sim.cluster('prod-001').unhealthy = 'Unknown';
    sim.run(50 * SECOND);
    sim.cluster('prod-001').unhealthy = 'No';
    sim.run(520 * SECOND);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('a soak goes on after a restart where it was, less the time that sync was away', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(330 * SECOND);
    sim.restart();
    sim.now += 8 * HOUR;
    sim.run(299 * SECOND);
    expect(prod(sim, 'c1').state).toBe('Soaking');
    // At most the minute between two writes is soaked again.
    sim.run(61 * SECOND);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it.each([
    ['forward', 26 * HOUR],
    ['back', -26 * HOUR],
  ])('a clock that jumps %s neither ends nor prolongs a soak', (_, jump) => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600, checks: [checkOf({ name: 'ok' })] }],
      clusters: many(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(330 * SECOND);
    sim.jump(jump);
    sim.run(240 * SECOND);
    expect(prod(sim, 'c1').state).toBe('Soaking');
    sim.run(2 * MINUTE);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('a hub that comes back from an old backup takes no cluster back', () => {
    const sim = new PromotionSimulation({
      stages: [
        { name: 'test', soakSeconds: 60 },
        { name: 'prod', soakSeconds: 60 },
      ],
      clusters: ['test-1', 'prod-1'],
    });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(10 * MINUTE);
    const backup = {
      releases: new Map(sim.releases),
      pipeline: sim.pipeline,
      status: new Map([...sim.clusters].map(([name, { status }]) => [name, status])),
    };
    for (const id of ['c2', 'c3', 'c4']) {
      sim.push(id, { '*': { app: id } });
      sim.run(10 * MINUTE);
    }
    const writes = sim.writes.length;
    sim.releases.clear();
    for (const [name, release] of backup.releases) sim.releases.set(name, release);
    sim.pipeline = backup.pipeline;
    for (const [name, cluster] of sim.clusters) cluster.status = backup.status.get(name);
    sim.restart();
    sim.settle();
    expect(sim.cluster('prod-1').status?.sync).toMatchObject({ commit: 'c4', state: 'Ahead' });
    sim.run(10 * MINUTE);
    expect(sim.writes.length).toBe(writes);
    expect(prod(sim, 'c4').state).toBe('Proven');
  });

  it('nor does one whose backup remembers the same content under an older commit', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 0 }], clusters: ['prod-1'] });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(SECOND);
    const backup = { releases: [...sim.releases], status: sim.cluster('prod-1').status };
    sim.run(MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(MINUTE);
    sim.push('c3', { prod: { app: 'v1' } });
    sim.run(SECOND);
    sim.releases.clear();
    for (const [name, release] of backup.releases) sim.releases.set(name, release);
    sim.cluster('prod-1').status = backup.status;
    sim.restart();
    sim.run(10 * MINUTE);
    expect(sim.writes.map(({ commit }) => commit)).toEqual(['c1', 'c2', 'c3', 'c3']);
    expect(prod(sim, 'c3').state).toBe('Proven');
  });

  it('a new hub holds a cluster that runs what is not in git, until a person accepts the head', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: ['prod-1'],
    });
    sim.cluster('prod-1').inventory.add('from elsewhere');
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Held');
    expect(sim.writes).toEqual([]);
    const source = { ...sim.pipeline.spec.source, acceptHead: 'c1' };
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, source } };
    sim.run(MINUTE);
    expect(touched(sim, 'c1')).toEqual(['prod-1']);
  });
});

describe('checks of a stage', () => {
  const soaking = { name: 'prod', soakSeconds: 600 };

  it.each([
    ['a check that fails once, with no limit, fails the stage', ['Failed'], {}, 'Failed'],
    [
      'one that fails as often as the limit allows does not',
      ['Failed', 'Failed'],
      { failureLimit: 2 },
      'Proven',
    ],
    ['one that fails once more does', ['Failed', 'Failed', 'Failed'], { failureLimit: 2 }, 'Failed'],
    [
      'one that gives no answer as often as the limit allows does not',
      ['Unknown', 'Unknown', 'Unknown'],
      {},
      'Proven',
    ],
  ] as const)('%s: the stage is %s', (_, results, limits, state) => {
    const sim = new PromotionSimulation({
      stages: [{ ...soaking, checks: [checkOf({ name: 'errors', ...limits })] }],
      clusters: many(1),
    });
    const left = [...results];
    sim.checkResult = () => left.shift() ?? 'Passed';
    sim.push('c1', { prod: { app: 'v1' } });
    // A failure ends by itself after a whole soak without another: look before that.
    sim.run(state === 'Failed' ? 9 * MINUTE : 12 * MINUTE);
    expect(prod(sim, 'c1').state).toBe(state);
  });

  it('without an answer too often the soak begins anew, and nothing fails', () => {
    const sim = new PromotionSimulation({
      stages: [{ ...soaking, checks: [checkOf({ name: 'errors', inconclusiveLimit: 1 })] }],
      clusters: many(1),
    });
    const left = ['Passed', 'Passed', 'Unknown', 'Passed', 'Unknown'] as const;
    let run = 0;
    sim.checkResult = () => left[run++] ?? 'Passed';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(11 * MINUTE);
    expect(prod(sim, 'c1').state).toBe('Soaking');
    sim.run(2 * MINUTE);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });

  it('wakes nobody for a moment that has passed', () => {
    const stages = [{ ...soaking, soakSeconds: 0, checks: [checkOf({ name: 'errors' })] }];
    const sim = new PromotionSimulation({ stages, clusters: many(1) });
    sim.checkResult = () => 'Unknown';
    sim.push('c1', { prod: { app: 'v1' } });
    const woken: number[] = [];
    sim.onReconcile = ({ requeueAt }) => woken.push(requeueAt ? +requeueAt - sim.now : 1);
    sim.run(10 * MINUTE);
    expect(Math.min(...woken)).toBeGreaterThan(0);
  });

  it('that never gives an answer is never passed', () => {
    const sim = new PromotionSimulation({
      stages: [{ ...soaking, soakSeconds: 0, checks: [checkOf({ name: 'errors' })] }],
      clusters: many(1),
    });
    sim.checkResult = () => 'Unknown';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(30 * MINUTE);
    expect(prod(sim, 'c1').state).toBe('Soaking');
  });
});

describe('S21 proves nothing that is not in sync', () => {
  it('is not proven, however healthy it is, and the time does not count', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    sim.cluster('prod-001').drifted = true;
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Applying');
    sim.cluster('prod-001').drifted = false;
    sim.run(599 * SECOND);
    expect(prod(sim, 'c1').state).toBe('Soaking');
    sim.run(SECOND);
    expect(prod(sim, 'c1').state).toBe('Proven');
  });
});

describe('brakes', () => {
  it('a paused pipeline writes nothing, and goes on where it was', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 60 }], clusters: many(2) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(10 * MINUTE);
    const pause = (paused: boolean): void => {
      sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, paused } };
    };
    pause(true);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(HOUR);
    expect(touched(sim, 'c2')).toEqual([]);
    expect(prod(sim, 'c2').waiting?.reason).toBe('Paused');
    expect(sim.pipeline.status?.phase).toBe('Paused');
    expect([...sim.clusters.values()].map(({ target }) => target?.mode)).toEqual(['Observe', 'Observe']);
    pause(false);
    sim.run(HOUR);
    expect(prod(sim, 'c2').state).toBe('Proven');
  });

  it('a paused cluster is only observed, whatever it runs', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 60 }], clusters: many(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    for (const seconds of [5, 40, 120]) {
      sim.run(seconds * SECOND);
      sim.cluster('prod-001').paused = true;
      sim.settle();
      expect(sim.cluster('prod-001').target?.mode).toBe('Observe');
      sim.cluster('prod-001').paused = false;
      sim.settle();
      expect(sim.cluster('prod-001').target?.mode).toBe('Apply');
    }
  });

  it('a cluster of two stages is held, and neither stage is proven over it', () => {
    const both = { all: false, matchLabels: { 'kubenode.dev/environment': 'prod' } };
    const sim = new PromotionSimulation({
      stages: [{ name: 'pre', clusterSelector: both }, { name: 'prod' }],
      clusters: many(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').status?.sync).toMatchObject({
      state: 'Held',
      message: expect.stringContaining('stage pre and stage prod') as string,
    });
    expect(sim.writes).toEqual([]);
    expect(sim.pipeline.status?.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'ClusterContested',
    });
  });

  it.each([
    ['Ignore', ['prod-001']],
    ['Fail', []],
  ] as const)('with unassigned %s, a cluster of no stage lets %j begin', (unassigned, begun) => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod' }],
      clusters: ['prod-001', 'test-1'],
      pipeline: { unassigned },
    });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(HOUR);
    expect(touched(sim, 'c1')).toEqual(begun);
    expect(sim.pipeline.status?.clusters?.unassigned).toBe(1);
    expect(sim.cluster('test-1').target?.mode).toBe('Observe');
  });

  it('another cluster behind the address gets nothing', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: many(1) });
    sim.cluster('prod-001').identity = 'Mismatch';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').target?.mode).toBe('Observe');
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Held');
  });
});

describe('S38 handles clusters that come, go and move', () => {
  it('a stage that loses its last cluster holds; one that never had any is passed', () => {
    const stages = [
      { name: 'test', soakSeconds: 0 },
      { name: 'pre', soakSeconds: 0 },
      { name: 'prod', soakSeconds: 0 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'prod-1'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(10 * MINUTE);
    expect(touched(sim, 'c1')).toEqual(['test-1', 'prod-1']);
    sim.cluster('test-1').environment = 'prod';
    sim.run(MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(HOUR);
    expect(touched(sim, 'c2')).toEqual([]);
    expect(sim.release('c2').status?.stages?.[0]?.waiting?.reason).toBe('NoClusters');
  });

  it('a cluster that moves to a stage behind it is Ahead, and is not taken back', () => {
    const stages = [
      { name: 'test', soakSeconds: 60 },
      { name: 'prod', soakSeconds: 60 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'test-2', 'prod-1'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(20 * MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(100 * SECOND);
    sim.cluster('test-1').environment = 'prod';
    sim.settle();
    expect(sim.cluster('test-1').status?.sync).toMatchObject({
      stage: 'prod',
      commit: 'c2',
      state: 'Ahead',
    });
    sim.run(HOUR);
    expect(sim.cluster('test-1').status?.sync?.state).toBe('Proven');
    expect(sim.writes.filter(({ cluster }) => cluster === 'test-1').map(({ commit }) => commit)).toEqual([
      'c1',
      'c2',
    ]);
  });
});
