import { describe, expect, it } from 'vitest';
import { prodClusters, writtenClusters } from '../simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('the blocks of a cluster', () => {
  it('only observes a paused cluster, in any state', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: prodClusters(1),
    });
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

  it('holds a cluster of two stages, and proves neither stage', () => {
    const both = { all: false, matchLabels: { 'kubenode.dev/environment': 'prod' } };
    const sim = new PromotionSimulation({
      stages: [{ name: 'pre', clusterSelector: both }, { name: 'prod' }],
      clusters: prodClusters(1),
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

  it('writes nothing to another cluster behind the same kubeconfig', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: prodClusters(1) });
    sim.cluster('prod-001').identity = 'Mismatch';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').target?.mode).toBe('Observe');
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Held');
  });

  it('applies the newest commit after a pause, not the one that was replaced meanwhile', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: prodClusters(1) });
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

describe('S39 survives restored backups', () => {
  it('holds a cluster with an unknown commit in a new hub until a person accepts the head', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: ['prod-1'],
    });
    sim.cluster('prod-1').inventory.add('unknown');
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Held');
    expect(sim.writes).toEqual([]);
    const source = { ...sim.pipeline.spec.source, acceptHead: 'c1' };
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, source } };
    sim.run(MINUTE);
    expect(writtenClusters(sim, 'c1')).toEqual(['prod-1']);
  });
});
