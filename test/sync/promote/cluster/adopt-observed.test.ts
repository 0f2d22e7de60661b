import { describe, expect, it } from 'vitest';
import { adoptObserved, hasObservedTarget } from '../../../../src/sync/promote/cluster/adopt-observed.ts';
import { NOW } from '../../../rollout/builders.ts';
import { contextOf, snapshotOf } from '../builders.ts';
import { prodStage } from '../simulation/queries.ts';
import { MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('adoptObserved', () => {
  const { history } = contextOf();
  const RECORDED = { commit: 'c1', renderedDigest: 'a1', release: 'fleet-c1', stage: 'prod' };

  it.each<[name: string, commits: readonly string[] | undefined]>([
    ['no inventory', undefined],
    ['the recorded commit', ['c1']],
    ['an unknown commit', ['unknown']],
  ])('keeps the record for %s', (_, commits) => {
    const snapshot = snapshotOf(RECORDED, commits ? { commits } : {});
    expect(adoptObserved(RECORDED, snapshot, history, NOW)).toBe(RECORDED);
  });

  it('takes a newer commit from the inventory, and soaks it again', () => {
    const snapshot = snapshotOf(RECORDED, { commits: ['c1', 'c2'] });
    expect(adoptObserved(RECORDED, snapshot, history, NOW)).toEqual({
      commit: 'c2',
      renderedDigest: 'a2',
      soak: { startedAt: NOW.toISOString(), clocks: [] },
    });
  });

  it.each<
    [commits: readonly string[], sync: { commit?: string; renderedDigest?: string }, expected: boolean]
  >([
    [['c2'], { commit: 'c2', renderedDigest: 'a2' }, true],
    [['c1', 'c2'], { commit: 'c1', renderedDigest: 'a1' }, false],
    [['c2'], { commit: 'c9', renderedDigest: 'a2' }, true],
    [['c2'], { commit: 'c2' }, false],
    [[], { commit: 'c2', renderedDigest: 'a2' }, false],
  ])('compares the inventory %j and the record %j: %s', (commits, sync, expected) => {
    expect(hasObservedTarget(sync, snapshotOf(sync, { commits }), history)).toBe(expected);
  });
});

describe('S39 never rolls a cluster back when the hub is restored from a backup', () => {
  it('rolls no cluster back after the hub is restored from an old backup', () => {
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
    expect(prodStage(sim, 'c4').state).toBe('Proven');
  });

  it('rolls no cluster back if the backup has the same content under an older commit', () => {
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
    expect(prodStage(sim, 'c3').state).toBe('Proven');
  });
});
