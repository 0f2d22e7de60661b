/** Inside one stage: order, budgets, clusters that are away, restarts. */
import { describe, expect, it } from 'vitest';
import type { ReleaseStage } from '../../../src/api/generated/types.ts';
import { checkOf, HOUR, MINUTE, SECOND, SmallWorld } from './small-world.ts';

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `prod-${String(index + 1).padStart(3, '0')}`);
}

function prod(world: SmallWorld, commit: string): ReleaseStage {
  const found = world.release(commit).status?.stages?.find(({ name }) => name === 'prod');
  if (!found) throw new Error('no stage prod');
  return found;
}

/** Clusters that were written for a commit, in the order of their first write. */
function touched(world: SmallWorld, commit: string): string[] {
  return [...new Set(world.writes.filter((write) => write.commit === commit).map(({ cluster }) => cluster))];
}

/** The most that were busy at one time, by what the clusters themselves say. */
function watchBusy(world: SmallWorld): () => number {
  let most = 0;
  const before = world.onPass;
  world.onPass = (plan) => {
    before(plan);
    const busy = [...world.clusters.values()].filter(
      ({ status }) => status?.sync?.state === 'Applying' || status?.sync?.state === 'Soaking',
    );
    most = Math.max(most, busy.length);
  };
  return () => most;
}

describe('S23 limits the clusters of a stage that are busy at one time', () => {
  it('touches no more clusters than may be busy with a bad version, of 200', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 5, soakSeconds: 600 }];
    const world = new SmallWorld({ stages, clusters: many(200) });
    const most = watchBusy(world);
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(HOUR);
    expect(touched(world, 'c1')).toEqual(many(5));
    expect(most()).toBe(5);
    expect(prod(world, 'c1')).toMatchObject({
      state: 'Failed',
      clusters: { total: 200, failed: 5, pending: 195 },
    });
    expect(world.release('c1').status?.failedClusters?.map(({ name }) => name)).toEqual(many(5));
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
      const world = new SmallWorld({ stages, clusters: many(8) });
      const most = watchBusy(world);
      world.push('c1', { prod: { app: 'v1' } });
      world.run(2 * HOUR);
      expect(most()).toBe(wanted);
      expect(prod(world, 'c1').state).toBe('Proven');
      expect(touched(world, 'c1')).toEqual(many(8));
    },
  );

  it('keeps its place and its limit through a restart at every step', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 60 }];
    const world = new SmallWorld({ stages, clusters: many(6) });
    const most = watchBusy(world);
    world.push('c1', { prod: { app: 'v1' } });
    for (let step = 0; step < 40; step++) {
      world.run(13 * SECOND);
      world.pass(step % 12);
      world.restart();
    }
    world.run(HOUR);
    expect(most()).toBe(2);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('names the limit in what waits', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod' }], clusters: many(3) });
    world.push('c1', { prod: { app: 'v1' } });
    world.settle();
    expect(world.cluster('prod-002').status?.sync).toMatchObject({
      state: 'Pending',
      message: 'clusters busy in prod: 1, allowed: 1',
    });
  });
});

describe('S35 starts no further cluster when the failure budget is spent', () => {
  it('stops 100 clusters with a budget of 2 at the third failure', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: 2, soakSeconds: 60 }];
    const world = new SmallWorld({ stages, clusters: many(100) });
    const bad = Object.fromEntries(
      ['prod-003', 'prod-007', 'prod-011', 'prod-040'].map((name) => [name, { app: 'bad1' }]),
    );
    world.push('c1', { prod: { app: 'v1' }, ...bad });
    world.run(12 * HOUR);
    expect(prod(world, 'c1').state).toBe('Failed');
    // The third failure is prod-011; at most three more were under way with it.
    expect(touched(world, 'c1').length).toBeLessThanOrEqual(14);
    expect(
      world.release('c1').status?.failedClusters?.map(({ name, reason, stage }) => [name, reason, stage]),
    ).toEqual([
      ['prod-003', 'ProgressDeadlineExceeded', 'prod'],
      ['prod-007', 'ProgressDeadlineExceeded', 'prod'],
      ['prod-011', 'ProgressDeadlineExceeded', 'prod'],
    ]);
    expect(world.release('c1').status?.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'FailureBudgetSpent',
      message: 'clusters failed in prod: 3, allowed: 2 (prod-003, prod-007, prod-011)',
    });
    expect(world.release('c1').status?.phase).toBe('Failed');
  });

  it('is proven over failures within the budget', () => {
    const stages = [
      { name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: '50%' as const, soakSeconds: 60 },
    ];
    const world = new SmallWorld({ stages, clusters: many(4) });
    world.push('c1', { prod: { app: 'v1' }, 'prod-001': { app: 'bad1' }, 'prod-002': { app: 'bad1' } });
    world.run(HOUR);
    expect(prod(world, 'c1')).toMatchObject({ state: 'Proven', clusters: { failed: 2, proven: 2 } });
  });

  it('is not proven when all that was not skipped has failed, whatever the budget', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: 4 }];
    const world = new SmallWorld({ stages, clusters: many(4) });
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(HOUR);
    expect(prod(world, 'c1').state).not.toBe('Proven');
  });

  it('lets clusters under way finish', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 600 }];
    const world = new SmallWorld({ stages, clusters: many(3) });
    world.push('c1', { prod: { app: 'v1' }, 'prod-001': { app: 'bad1' } });
    world.run(HOUR);
    expect(world.cluster('prod-002').status?.sync?.state).toBe('Proven');
    expect(touched(world, 'c1')).toEqual(['prod-001', 'prod-002']);
  });

  it('does not let a held plan begin after the budget is spent', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2 }];
    const world = new SmallWorld({ stages, clusters: many(2) });
    world.cluster('prod-001').trouble = 'Held';
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(10 * MINUTE);
    world.cluster('prod-001').trouble = 'None';
    world.run(10 * MINUTE);
    expect(touched(world, 'c1')).toEqual(['prod-002']);
  });

  it('keeps a failure of a cluster that goes out of reach in the count', () => {
    const stages = [{ name: 'prod', unreachable: { graceSeconds: 60, maxSkipped: 3 } }];
    const world = new SmallWorld({ stages, clusters: many(3) });
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(10 * MINUTE);
    world.cluster('prod-001').reachable = false;
    world.run(HOUR);
    expect(touched(world, 'c1')).toEqual(['prod-001']);
  });
});

describe('S37 waits for unreachable clusters only for the grace of the stage', () => {
  const stages = [{ name: 'prod', maxConcurrentClusters: '100%' as const, soakSeconds: 60 }];

  function down(
    count: number,
    away: readonly string[],
    unreachable = { graceSeconds: 3600, maxSkipped: '10%' as number | `${number}%` },
  ): SmallWorld {
    const world = new SmallWorld({
      stages: [{ ...stages[0], name: 'prod', unreachable }],
      clusters: many(count),
    });
    for (const name of away) world.cluster(name).reachable = false;
    return world;
  }

  it('of 20, 2 black-holed and 1 paused: proven after the grace, not before', () => {
    const world = down(20, ['prod-004', 'prod-009']);
    world.cluster('prod-012').paused = true;
    world.push('c1', { prod: { app: 'v1' } });
    world.run(HOUR - SECOND);
    expect(prod(world, 'c1')).toMatchObject({
      state: 'Promoting',
      waiting: { reason: 'Unreachable', blocker: { name: 'prod-004' } },
    });
    world.run(SECOND);
    expect(prod(world, 'c1')).toMatchObject({
      state: 'Proven',
      clusters: { total: 20, proven: 17, skipped: 3 },
    });
    expect(world.cluster('prod-012').status?.sync?.state).toBe('Paused');
    expect(world.cluster('prod-004').status?.sync?.state).toBe('Skipped');
  });

  it('of 20, 11 black-holed with a limit of 5: held, with names', () => {
    const world = down(20, many(11), { graceSeconds: 60, maxSkipped: 5 });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(HOUR);
    expect(prod(world, 'c1')).toMatchObject({ state: 'Promoting', waiting: { reason: 'TooManySkipped' } });
    expect(prod(world, 'c1').waiting?.message).toContain('prod-001, prod-002');
    expect(world.release('c1').status?.phase).toBe('Stalled');
  });

  it.each([
    ['all of them unreachable', false],
    ['all of them paused', true],
  ])('%s: never proven', (_, paused) => {
    const world = down(4, paused ? [] : many(4), { graceSeconds: 60, maxSkipped: 4 });
    for (const cluster of world.clusters.values()) cluster.paused = paused;
    world.push('c1', { prod: { app: 'v1' } });
    world.run(6 * HOUR);
    expect(prod(world, 'c1').state).not.toBe('Proven');
    expect(world.writes).toEqual([]);
  });

  it('a cluster that returns goes straight to the commit that its stage has, through the gates', () => {
    const world = down(3, ['prod-002'], { graceSeconds: 60, maxSkipped: 1 });
    for (const id of ['c1', 'c2', 'c3']) {
      world.push(id, { prod: { app: id } });
      world.run(10 * MINUTE);
    }
    expect(prod(world, 'c3').state).toBe('Proven');
    world.cluster('prod-002').reachable = true;
    world.run(40 * SECOND);
    expect(world.cluster('prod-002').status?.sync).toMatchObject({ state: 'Soaking', commit: 'c3' });
    expect(world.writes.filter(({ cluster }) => cluster === 'prod-002').map(({ commit }) => commit)).toEqual([
      'c3',
    ]);
    world.run(10 * MINUTE);
    expect(world.cluster('prod-002').status?.sync?.state).toBe('Proven');
  });

  it('one that flaps every 30 s for an hour is applied once, and never goes back', () => {
    const world = down(2, []);
    world.push('c1', { prod: { app: 'v1' } });
    world.run(5 * MINUTE);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(15 * SECOND);
    for (let flap = 0; flap < 120; flap++) {
      const cluster = world.cluster('prod-001');
      cluster.reachable = !cluster.reachable;
      world.run(30 * SECOND);
    }
    world.cluster('prod-001').reachable = true;
    world.run(10 * MINUTE);
    expect(world.writes.filter(({ cluster }) => cluster === 'prod-001').map(({ commit }) => commit)).toEqual([
      'c1',
      'c2',
    ]);
    expect(prod(world, 'c2').state).toBe('Proven');
  });

  it('one that returns while others have its place waits for one', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(2) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(20 * SECOND);
    world.cluster('prod-001').paused = true;
    world.run(20 * SECOND);
    expect(world.cluster('prod-002').status?.sync?.state).toBe('Applying');
    world.cluster('prod-001').paused = false;
    world.run(20 * SECOND);
    expect(world.cluster('prod-001').status?.sync?.state).toBe('Pending');
    expect(world.cluster('prod-001').target?.mode).toBe('Observe');
    world.run(2 * HOUR);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('a paused cluster is not on its way to a bad commit when it is paused no more', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod' }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(10 * MINUTE);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(5 * SECOND);
    world.cluster('prod-001').paused = true;
    world.settle();
    world.push('c3', { prod: { app: 'v3' } });
    world.run(10 * MINUTE);
    world.cluster('prod-001').paused = false;
    world.run(10 * MINUTE);
    expect(world.writes.map(({ commit }) => commit)).toEqual(['c1', 'c2', 'c3']);
  });
});

describe('S39 survives restarts, unobserved health and restored backups', () => {
  it('does not count time in which health was not seen for more than two minutes', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(5 * MINUTE);
    world.cluster('prod-001').ill = 'Unknown';
    world.run(20 * MINUTE);
    world.cluster('prod-001').ill = 'No';
    world.run(330 * SECOND - SECOND);
    expect(prod(world, 'c1').state).toBe('Soaking');
    world.run(MINUTE + SECOND);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('counts a gap of less than two minutes', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(90 * SECOND);
    world.restart();
    world.now += 50 * SECOND;
    world.run(490 * SECOND);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('does not count time in which health was seen not to be good, however short', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(MINUTE);
    const cluster = world.cluster('prod-001');
    for (let minute = 0; minute < 30; minute++) {
      cluster.ill = 'Progressing';
      world.run(50 * SECOND);
      cluster.ill = 'No';
      world.run(10 * SECOND);
    }
    expect(prod(world, 'c1').state).toBe('Soaking');
    // Each time at most the minute between two writes is soaked again.
    world.run(10 * MINUTE);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('counts time in which health could not be seen, up to two minutes', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(MINUTE);
    world.cluster('prod-001').ill = 'Unknown';
    world.run(50 * SECOND);
    world.cluster('prod-001').ill = 'No';
    world.run(520 * SECOND);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('a soak goes on after a restart where it was, less the time that sync was away', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(330 * SECOND);
    world.restart();
    world.now += 8 * HOUR;
    world.run(299 * SECOND);
    expect(prod(world, 'c1').state).toBe('Soaking');
    // At most the minute between two writes is soaked again.
    world.run(61 * SECOND);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it.each([
    ['forward', 26 * HOUR],
    ['back', -26 * HOUR],
  ])('a clock that jumps %s neither ends nor prolongs a soak', (_, jump) => {
    const world = new SmallWorld({
      stages: [{ name: 'prod', soakSeconds: 600, checks: [checkOf({ name: 'ok' })] }],
      clusters: many(1),
    });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(330 * SECOND);
    world.jump(jump);
    world.run(240 * SECOND);
    expect(prod(world, 'c1').state).toBe('Soaking');
    world.run(2 * MINUTE);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('a hub that comes back from an old backup takes no cluster back', () => {
    const world = new SmallWorld({
      stages: [
        { name: 'test', soakSeconds: 60 },
        { name: 'prod', soakSeconds: 60 },
      ],
      clusters: ['test-1', 'prod-1'],
    });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(10 * MINUTE);
    const backup = {
      releases: new Map(world.releases),
      pipeline: world.pipeline,
      status: new Map([...world.clusters].map(([name, { status }]) => [name, status])),
    };
    for (const id of ['c2', 'c3', 'c4']) {
      world.push(id, { '*': { app: id } });
      world.run(10 * MINUTE);
    }
    const writes = world.writes.length;
    world.releases.clear();
    for (const [name, release] of backup.releases) world.releases.set(name, release);
    world.pipeline = backup.pipeline;
    for (const [name, cluster] of world.clusters) cluster.status = backup.status.get(name);
    world.restart();
    world.settle();
    expect(world.cluster('prod-1').status?.sync).toMatchObject({ commit: 'c4', state: 'Ahead' });
    world.run(10 * MINUTE);
    expect(world.writes.length).toBe(writes);
    expect(prod(world, 'c4').state).toBe('Proven');
  });

  it('nor does one whose backup remembers the same content under an older commit', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 0 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(SECOND);
    const backup = { releases: [...world.releases], status: world.cluster('prod-1').status };
    world.run(MINUTE);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(MINUTE);
    world.push('c3', { prod: { app: 'v1' } });
    world.run(SECOND);
    world.releases.clear();
    for (const [name, release] of backup.releases) world.releases.set(name, release);
    world.cluster('prod-1').status = backup.status;
    world.restart();
    world.run(10 * MINUTE);
    expect(world.writes.map(({ commit }) => commit)).toEqual(['c1', 'c2', 'c3', 'c3']);
    expect(prod(world, 'c3').state).toBe('Proven');
  });

  it('a new hub holds a cluster that runs what is not in git, until a person accepts the head', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 60 }], clusters: ['prod-1'] });
    world.cluster('prod-1').inventory.add('from elsewhere');
    world.push('c1', { prod: { app: 'v1' } });
    world.run(MINUTE);
    expect(world.cluster('prod-1').status?.sync?.state).toBe('Held');
    expect(world.writes).toEqual([]);
    const source = { ...world.pipeline.spec.source, acceptHead: 'c1' };
    world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, source } };
    world.run(MINUTE);
    expect(touched(world, 'c1')).toEqual(['prod-1']);
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
    const world = new SmallWorld({
      stages: [{ ...soaking, checks: [checkOf({ name: 'errors', ...limits })] }],
      clusters: many(1),
    });
    const left = [...results];
    world.checkResult = () => left.shift() ?? 'Passed';
    world.push('c1', { prod: { app: 'v1' } });
    // A failure ends by itself after a whole soak without another: look before that.
    world.run(state === 'Failed' ? 9 * MINUTE : 12 * MINUTE);
    expect(prod(world, 'c1').state).toBe(state);
  });

  it('without an answer too often the soak begins anew, and nothing fails', () => {
    const world = new SmallWorld({
      stages: [{ ...soaking, checks: [checkOf({ name: 'errors', inconclusiveLimit: 1 })] }],
      clusters: many(1),
    });
    const left = ['Passed', 'Passed', 'Unknown', 'Passed', 'Unknown'] as const;
    let run = 0;
    world.checkResult = () => left[run++] ?? 'Passed';
    world.push('c1', { prod: { app: 'v1' } });
    world.run(11 * MINUTE);
    expect(prod(world, 'c1').state).toBe('Soaking');
    world.run(2 * MINUTE);
    expect(prod(world, 'c1').state).toBe('Proven');
  });

  it('wakes nobody for a moment that has passed', () => {
    const stages = [{ ...soaking, soakSeconds: 0, checks: [checkOf({ name: 'errors' })] }];
    const world = new SmallWorld({ stages, clusters: many(1) });
    world.checkResult = () => 'Unknown';
    world.push('c1', { prod: { app: 'v1' } });
    const woken: number[] = [];
    world.onPass = ({ wakeAt }) => woken.push(wakeAt ? +wakeAt - world.now : 1);
    world.run(10 * MINUTE);
    expect(Math.min(...woken)).toBeGreaterThan(0);
  });

  it('that never gives an answer is never passed', () => {
    const world = new SmallWorld({
      stages: [{ ...soaking, soakSeconds: 0, checks: [checkOf({ name: 'errors' })] }],
      clusters: many(1),
    });
    world.checkResult = () => 'Unknown';
    world.push('c1', { prod: { app: 'v1' } });
    world.run(30 * MINUTE);
    expect(prod(world, 'c1').state).toBe('Soaking');
  });
});

describe('S21 proves nothing that is not in sync', () => {
  it('is not proven, however healthy it is, and the time does not count', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: many(1) });
    world.cluster('prod-001').drifted = true;
    world.push('c1', { prod: { app: 'v1' } });
    world.run(HOUR);
    expect(world.cluster('prod-001').status?.sync?.state).toBe('Applying');
    world.cluster('prod-001').drifted = false;
    world.run(599 * SECOND);
    expect(prod(world, 'c1').state).toBe('Soaking');
    world.run(SECOND);
    expect(prod(world, 'c1').state).toBe('Proven');
  });
});

describe('brakes', () => {
  it('a paused pipeline writes nothing, and goes on where it was', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 60 }], clusters: many(2) });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(10 * MINUTE);
    const pause = (paused: boolean): void => {
      world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, paused } };
    };
    pause(true);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(HOUR);
    expect(touched(world, 'c2')).toEqual([]);
    expect(prod(world, 'c2').waiting?.reason).toBe('Paused');
    expect(world.pipeline.status?.phase).toBe('Paused');
    expect([...world.clusters.values()].map(({ target }) => target?.mode)).toEqual(['Observe', 'Observe']);
    pause(false);
    world.run(HOUR);
    expect(prod(world, 'c2').state).toBe('Proven');
  });

  it('a paused cluster is only observed, whatever it runs', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 60 }], clusters: many(1) });
    world.push('c1', { prod: { app: 'v1' } });
    for (const seconds of [5, 40, 120]) {
      world.run(seconds * SECOND);
      world.cluster('prod-001').paused = true;
      world.settle();
      expect(world.cluster('prod-001').target?.mode).toBe('Observe');
      world.cluster('prod-001').paused = false;
      world.settle();
      expect(world.cluster('prod-001').target?.mode).toBe('Apply');
    }
  });

  it('a cluster of two stages is held, and neither stage is proven over it', () => {
    const both = { all: false, matchLabels: { 'kubenode.dev/environment': 'prod' } };
    const world = new SmallWorld({
      stages: [{ name: 'pre', clusterSelector: both }, { name: 'prod' }],
      clusters: many(1),
    });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(HOUR);
    expect(world.cluster('prod-001').status?.sync).toMatchObject({
      state: 'Held',
      message: expect.stringContaining('stage pre and stage prod') as string,
    });
    expect(world.writes).toEqual([]);
    expect(world.pipeline.status?.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'ClusterContested',
    });
  });

  it.each([
    ['Ignore', ['prod-001']],
    ['Fail', []],
  ] as const)('with unassigned %s, a cluster of no stage lets %j begin', (unassigned, begun) => {
    const world = new SmallWorld({
      stages: [{ name: 'prod' }],
      clusters: ['prod-001', 'test-1'],
      pipeline: { unassigned },
    });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(HOUR);
    expect(touched(world, 'c1')).toEqual(begun);
    expect(world.pipeline.status?.clusters?.unassigned).toBe(1);
    expect(world.cluster('test-1').target?.mode).toBe('Observe');
  });

  it('another cluster behind the address gets nothing', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod' }], clusters: many(1) });
    world.cluster('prod-001').identity = 'Mismatch';
    world.push('c1', { prod: { app: 'v1' } });
    world.run(HOUR);
    expect(world.cluster('prod-001').target?.mode).toBe('Observe');
    expect(world.cluster('prod-001').status?.sync?.state).toBe('Held');
  });
});

describe('S38 handles clusters that come, go and move', () => {
  it('a stage that loses its last cluster holds; one that never had any is passed', () => {
    const stages = [
      { name: 'test', soakSeconds: 0 },
      { name: 'pre', soakSeconds: 0 },
      { name: 'prod', soakSeconds: 0 },
    ];
    const world = new SmallWorld({ stages, clusters: ['test-1', 'prod-1'] });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(10 * MINUTE);
    expect(touched(world, 'c1')).toEqual(['test-1', 'prod-1']);
    world.cluster('test-1').environment = 'prod';
    world.run(MINUTE);
    world.push('c2', { '*': { app: 'v2' } });
    world.run(HOUR);
    expect(touched(world, 'c2')).toEqual([]);
    expect(world.release('c2').status?.stages?.[0]?.waiting?.reason).toBe('NoClusters');
  });

  it('a cluster that moves to a stage behind it is Ahead, and is not taken back', () => {
    const stages = [
      { name: 'test', soakSeconds: 60 },
      { name: 'prod', soakSeconds: 60 },
    ];
    const world = new SmallWorld({ stages, clusters: ['test-1', 'test-2', 'prod-1'] });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(20 * MINUTE);
    world.push('c2', { '*': { app: 'v2' } });
    world.run(100 * SECOND);
    world.cluster('test-1').environment = 'prod';
    world.settle();
    expect(world.cluster('test-1').status?.sync).toMatchObject({
      stage: 'prod',
      commit: 'c2',
      state: 'Ahead',
    });
    world.run(HOUR);
    expect(world.cluster('test-1').status?.sync?.state).toBe('Proven');
    expect(world.writes.filter(({ cluster }) => cluster === 'test-1').map(({ commit }) => commit)).toEqual([
      'c1',
      'c2',
    ]);
  });
});
