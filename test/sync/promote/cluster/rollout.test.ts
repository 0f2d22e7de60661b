import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('S38 never rolls back a cluster that moves to a stage behind it', () => {
  it('is Ahead, keeps its commit, and counts again once the stage has caught up', () => {
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
