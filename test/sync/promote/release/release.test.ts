import { describe, expect, it } from 'vitest';
import { rerender, runningContent, runUntilProven, writtenCommits } from '../simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

describe('S32 promotes a commit again when it renders to different content', () => {
  it('S40 promotes the new content stage by stage, after the soak of each', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c1');
    rerender(sim);
    const from = sim.writes.length;
    sim.settle();
    expect(sim.writes.slice(from).map(({ cluster }) => cluster)).toEqual(['test-1']);
    expect(sim.cluster('prod-1').status?.sync).toMatchObject({
      state: 'Pending',
      message: expect.stringContaining('renders to different content') as string,
    });
    sim.run(HOUR);
    const again = sim.writes.slice(from);
    expect(again.map(({ cluster }) => cluster)).toEqual(['test-1', 'pre-1', 'prod-1']);
    const [test = 0, pre = 0, prod = 0] = again.map(({ at }) => at);
    expect([pre - test >= 30 * SECOND, prod - pre >= 30 * SECOND]).toEqual([true, true]);
    expect(runningContent(sim, 'prod-1')).toBe('app=v1 label=new');
  });

  it('stops new content that fails in the first stage, and takes the next commit everywhere', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c1');
    rerender(sim);
    sim.cluster('test-1').unhealthy = 'Failed';
    sim.run(HOUR);
    expect(runningContent(sim, 'prod-1')).toBe('app=v1');
    sim.cluster('test-1').unhealthy = 'No';
    sim.push('c2', { '*': { app: 'v2' } });
    runUntilProven(sim, 'c2');
    expect(runningContent(sim, 'prod-1')).toBe('app=v2');
  });

  it('starts no cluster of a stage in progress, and takes the next commit there', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: each.name === 'prod' ? 3600 : 0 }));
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'pre-1', 'prod-1', 'prod-2'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(10 * MINUTE);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Soaking');
    sim.push('c2', { '*': { app: 'v2' } });
    sim.settle();
    rerender(sim);
    sim.run(2 * MINUTE);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1', 'c2']);
    expect(writtenCommits(sim, 'prod-2')).toEqual([]);
    runUntilProven(sim, 'c2');
  });
});
