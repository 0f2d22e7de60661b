import { describe, expect, it } from 'vitest';
import { clusterReachability } from '../../../../src/sync/promote/cluster/reachability.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { snapshotOf } from '../builders.ts';
import { prodClusters, prodStage } from '../simulation/queries.ts';
import { MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('clusterReachability', () => {
  it.each<[name: string, report: Parameters<typeof snapshotOf>[1], expected: string]>([
    ['before the first attempt to connect', { reachable: undefined as never }, 'Unknown'],
    ['before the identity is verified', { identity: 'Unknown' }, 'Unknown'],
    ['before the inventory is read', { commits: undefined as never }, 'Unknown'],
    [
      'while the inventory cannot be read',
      { commits: undefined as never, failure: { reason: 'Forbidden', message: 'forbidden' } },
      'Reachable',
    ],
    ['while it answers', {}, 'Reachable'],
    ['while it refuses work for a moment', { overloadedSince: later(-10) }, 'Reachable'],
    ['that has refused work for the grace', { overloadedSince: later(-60) }, 'Unreachable, grace over: true'],
    ['while another cluster answers', { identity: 'Mismatch' }, 'Reachable'],
    ['without an answer, within the grace', { reachable: false }, 'Unreachable, grace over: false'],
    [
      'at the end of the grace',
      { reachable: false, lastContactAt: later(-60) },
      'Unreachable, grace over: true',
    ],
  ])('finds %s: %s', (_, report, expected) => {
    const reachability = clusterReachability(snapshotOf({}, report), 60, NOW);
    const { state } = reachability;
    const text = state === 'Unreachable' ? `${state}, grace over: ${reachability.isGraceOver}` : state;
    expect(text).toBe(expected);
  });

  it.each<[name: string, state: 'Unreachable' | 'Skipped' | 'Proven', since: number, expected: number]>([
    ['the recorded time, so that a restart does not restart the grace', 'Unreachable', -30, -30],
    ['the recorded time of a skipped cluster', 'Skipped', -90, -90],
    ['the last contact, if another state is recorded', 'Proven', -30, -10],
    ['now, if the recorded time is in the future', 'Unreachable', 500, 0],
  ])('starts the grace at %s', (_, state, since, expected) => {
    const snapshot = snapshotOf(
      { state, since: later(since).toISOString() },
      { reachable: false, lastContactAt: later(-10) },
    );
    expect(clusterReachability(snapshot, 60, NOW)).toMatchObject({
      since: later(expected),
      until: later(expected + 60),
    });
  });
});

describe('S37 counts a cluster that cannot be written as unreachable', () => {
  it('shows until when it waits, gives its slot to others after the grace, and lets it return', () => {
    const unreachable = { graceSeconds: 60, maxSkipped: 1 };
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 0, maxConcurrentClusters: 1, unreachable }],
      clusters: prodClusters(3),
    });
    const first = sim.cluster('prod-001');
    const retryAt = new Date(sim.now + 45 * SECOND);
    first.trouble = 'Transient';
    first.overload = { since: new Date(sim.now), retryAt };
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(30 * SECOND);
    expect(prodStage(sim, 'c1')).toMatchObject({
      state: 'Promoting',
      waiting: { reason: 'TooManyRequests', message: `prod-001: refused until ${retryAt.toISOString()}` },
    });
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Pending');

    // As often as a Pipeline is reconciled at least.
    for (let step = 0; step < 40; step += 1) sim.run(15 * SECOND);
    expect(first.status?.sync?.state).toBe('Skipped');
    expect(prodStage(sim, 'c1').state).toBe('Proven');
    first.trouble = 'None';
    first.overload = undefined;
    sim.run(10 * MINUTE);
    expect(first.status?.sync).toMatchObject({ commit: 'c1', state: 'Proven' });
  });
});

describe('S37 syncs an unreachable cluster when it returns', () => {
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

  it('applies the current commit of the stage to a returning cluster, with its soak', () => {
    const sim = down(3, ['prod-002'], { graceSeconds: 60, maxSkipped: 1 });
    for (const id of ['c1', 'c2', 'c3']) {
      sim.push(id, { prod: { app: id } });
      sim.run(10 * MINUTE);
    }
    expect(prodStage(sim, 'c3').state).toBe('Proven');
    sim.cluster('prod-002').reachable = true;
    sim.run(40 * SECOND);
    expect(sim.cluster('prod-002').status?.sync).toMatchObject({ state: 'Soaking', commit: 'c3' });
    expect(sim.writes.filter(({ cluster }) => cluster === 'prod-002').map(({ commit }) => commit)).toEqual([
      'c3',
    ]);
    sim.run(10 * MINUTE);
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Proven');
  });

  it('applies once to a cluster that flaps every 30 s for an hour, and never rolls it back', () => {
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
    expect(prodStage(sim, 'c2').state).toBe('Proven');
  });
});
