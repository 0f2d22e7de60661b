import { describe, expect, it } from 'vitest';
import { MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('a cluster whose inventory cannot be read', () => {
  it('S39 is not written before it names its commits, because they may be newer than the record', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 0 }], clusters: ['prod-1'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(MINUTE);
    sim.cluster('prod-1').inventoryFailure = { reason: 'Timeout', message: 'no answer' };
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').target?.mode).toBe('Observe');
    expect(sim.writes.map(({ commit }) => commit)).toEqual(['c1']);
    sim.cluster('prod-1').inventoryFailure = undefined;
    sim.run(MINUTE);
    expect(sim.writes.map(({ commit }) => commit)).toEqual(['c1', 'c2']);
  });
});

describe('a revert', () => {
  it('S13 is marked as content that was proven before, for the process that applies it', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 20 }],
      clusters: ['prod-1'],
    });
    const marks: unknown[] = [];
    for (const [commit, app] of [
      ['c1', 'v1'],
      ['c2', 'v2'],
      ['c3', 'v1'],
    ] as const) {
      sim.push(commit, { '*': { app } });
      sim.run(5 * SECOND);
      const { target } = sim.cluster('prod-1');
      marks.push([target?.commit, target?.provenBefore]);
      sim.run(2 * MINUTE);
    }
    expect(marks).toEqual([
      ['c1', undefined],
      ['c2', undefined],
      ['c3', true],
    ]);
  });
});

describe('S38 keeps what a cluster runs when it moves to a stage behind it', () => {
  const TWO_STAGES = [{ name: 'test', soakSeconds: 0 }, { name: 'prod' }];

  it('starts nothing that was only assigned in the stage before', () => {
    const sim = new PromotionSimulation({ stages: TWO_STAGES, clusters: ['test-1', 'test-2', 'prod-1'] });
    sim.cluster('test-1').trouble = 'Held';
    sim.push('c1', { '*': { app: 'v1' } });
    sim.settle();
    expect(sim.cluster('test-1').target).toMatchObject({ mode: 'Apply', commit: 'c1' });
    sim.cluster('test-1').environment = 'prod';
    sim.settle();
    sim.cluster('test-1').trouble = 'None';
    sim.settle();
    expect(sim.cluster('test-1').target?.mode).toBe('Observe');
    expect(sim.writes.map(({ cluster }) => cluster)).not.toContain('test-1');
  });

  it('finishes what it had started, even if a commit without changes renamed it', () => {
    const sim = new PromotionSimulation({ stages: TWO_STAGES, clusters: ['test-1', 'test-2', 'prod-1'] });
    sim.cluster('test-2').paused = true;
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(MINUTE);
    sim.cluster('test-2').paused = false;
    sim.run(5 * SECOND);
    sim.push('c3', { '*': { app: 'v2' } });
    sim.settle();
    expect(sim.cluster('test-2').status?.sync).toMatchObject({ commit: 'c3', state: 'Applying' });
    sim.cluster('test-2').environment = 'prod';
    sim.run(10 * SECOND);
    expect(sim.cluster('test-2').status?.sync?.state).toBe('Ahead');
    expect(sim.cluster('test-2').applied?.digest).toBe('app=v2');
  });
});
