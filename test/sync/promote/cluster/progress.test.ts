import { describe, expect, it } from 'vitest';
import { checkOf } from '../../../rollout/builders.ts';
import { prodClusters, prodStage, stageStatus, writtenCommits } from '../simulation/queries.ts';
import { digestFor, HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('S39 counts only observed time as soak, through restarts and clock jumps', () => {
  it('does not count time in which health was not observed for more than two minutes', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(5 * MINUTE);
    sim.cluster('prod-001').unhealthy = 'Unknown';
    sim.run(20 * MINUTE);
    sim.cluster('prod-001').unhealthy = 'No';
    sim.run(330 * SECOND - SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
    sim.run(MINUTE + SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('counts a gap of less than two minutes', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(90 * SECOND);
    sim.restart();
    sim.now += 50 * SECOND;
    sim.run(490 * SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('does not count time in which health was observed not to be good, however short', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    const cluster = sim.cluster('prod-001');
    for (let minute = 0; minute < 30; minute++) {
      cluster.unhealthy = 'Progressing';
      sim.run(50 * SECOND);
      cluster.unhealthy = 'No';
      sim.run(10 * SECOND);
    }
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
    // Each time it repeats at most the minute between two writes.
    sim.run(10 * MINUTE);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('counts time in which health could not be observed, up to two minutes', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    sim.cluster('prod-001').unhealthy = 'Unknown';
    sim.run(50 * SECOND);
    sim.cluster('prod-001').unhealthy = 'No';
    sim.run(520 * SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('continues a soak after a restart, without the time that sync was down', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(330 * SECOND);
    sim.restart();
    sim.now += 8 * HOUR;
    sim.run(299 * SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
    // It repeats at most the minute between two writes.
    sim.run(61 * SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it.each([
    ['forward', 26 * HOUR],
    ['back', -26 * HOUR],
  ])('neither ends nor prolongs a soak when the clock jumps %s', (_, jump) => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600, checks: [checkOf({ name: 'ok' })] }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(330 * SECOND);
    sim.jump(jump);
    sim.run(240 * SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
    sim.run(2 * MINUTE);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });
});

describe('S32 ends a failure by a whole soak or by an acknowledgement', () => {
  it('ends a failure after a whole healthy soak', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(5 * MINUTE);
    sim.cluster('prod-1').unhealthy = 'Failed';
    sim.run(MINUTE);
    expect(stageStatus(sim, 'c1', 'prod').state).toBe('Failed');
    sim.cluster('prod-1').unhealthy = 'No';
    sim.run(599 * SECOND);
    expect(stageStatus(sim, 'c1', 'prod').state).toBe('Failed');
    sim.run(SECOND);
    expect(stageStatus(sim, 'c1', 'prod').state).toBe('Proven');
  });

  it('ends an acknowledged failure once the cluster is healthy and has a slot', () => {
    const stages = [{ name: 'prod', soakSeconds: 600 }];
    const sim = new PromotionSimulation({ stages, clusters: ['prod-1', 'prod-2'] });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.cluster('prod-1').unhealthy = 'Failed';
    sim.run(5 * MINUTE);
    const acknowledgements = [
      { planDigest: digestFor({ app: 'v1' }), unit: 'app', reason: 'the disk was full' },
    ];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, acknowledgements } };
    sim.run(MINUTE);
    expect(stageStatus(sim, 'c1', 'prod').state).toBe('Failed');
    sim.cluster('prod-1').unhealthy = 'No';
    sim.settle();
    expect(stageStatus(sim, 'c1', 'prod').clusters).toMatchObject({ failed: 0, soaking: 1, pending: 1 });
    sim.run(599 * SECOND);
    expect(writtenCommits(sim, 'prod-2')).toEqual([]);
    sim.run(SECOND);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Proven');
    expect(writtenCommits(sim, 'prod-2')).toEqual(['c1']);
  });
});

describe('S21 proves nothing that is not in sync', () => {
  it('does not count the time before the cluster is in sync', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: prodClusters(1),
    });
    sim.cluster('prod-001').drifted = true;
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Applying');
    sim.cluster('prod-001').drifted = false;
    sim.run(599 * SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
    sim.run(SECOND);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });
});

describe('the checks of a stage', () => {
  const soaking = { name: 'prod', soakSeconds: 600 };

  it.each([
    ['one failure over the limit of 0', ['Failed'], {}, 'Failed'],
    ['as many failures as the limit', ['Failed', 'Failed'], { failureLimit: 2 }, 'Proven'],
    ['one failure more than the limit', ['Failed', 'Failed', 'Failed'], { failureLimit: 2 }, 'Failed'],
    ['as many unknown results as the limit', ['Unknown', 'Unknown', 'Unknown'], {}, 'Proven'],
  ] as const)('with %s: the stage is %s', (_, results, limits, state) => {
    const sim = new PromotionSimulation({
      stages: [{ ...soaking, checks: [checkOf({ name: 'errors', ...limits })] }],
      clusters: prodClusters(1),
    });
    const left = [...results];
    sim.checkResult = () => left.shift() ?? 'Passed';
    sim.push('c1', { prod: { app: 'v1' } });
    // A failure ends after a whole soak without another one, so check before that.
    sim.run(state === 'Failed' ? 9 * MINUTE : 12 * MINUTE);
    expect(prodStage(sim, 'c1').state).toBe(state);
  });

  it('restarts the soak after too many unknown results, without a failure', () => {
    const sim = new PromotionSimulation({
      stages: [{ ...soaking, checks: [checkOf({ name: 'errors', inconclusiveLimit: 1 })] }],
      clusters: prodClusters(1),
    });
    const left = ['Passed', 'Passed', 'Unknown', 'Passed', 'Unknown'] as const;
    let run = 0;
    sim.checkResult = () => left[run++] ?? 'Passed';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(11 * MINUTE);
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
    sim.run(2 * MINUTE);
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('never requeues for a moment in the past', () => {
    const stages = [{ ...soaking, soakSeconds: 0, checks: [checkOf({ name: 'errors' })] }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(1) });
    sim.checkResult = () => 'Unknown';
    sim.push('c1', { prod: { app: 'v1' } });
    const delays: number[] = [];
    sim.onReconcile = ({ requeueAt }) => delays.push(requeueAt ? +requeueAt - sim.now : 1);
    sim.run(10 * MINUTE);
    expect(Math.min(...delays)).toBeGreaterThan(0);
  });

  it('never passes a check without results', () => {
    const sim = new PromotionSimulation({
      stages: [{ ...soaking, soakSeconds: 0, checks: [checkOf({ name: 'errors' })] }],
      clusters: prodClusters(1),
    });
    sim.checkResult = () => 'Unknown';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(30 * MINUTE);
    expect(prodStage(sim, 'c1').state).toBe('Soaking');
  });
});
