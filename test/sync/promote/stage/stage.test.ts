import { describe, expect, it } from 'vitest';
import { runUntilProven, stageStates, writtenClusters, writtenCommits } from '../simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

describe('S23 keeps the order inside a stage when the hub is restored from a backup', () => {
  it('starts no cluster while one that was found in progress is still being written', () => {
    const stages = [{ name: 'test', soakSeconds: 0 }, { name: 'prod' }];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'prod-1', 'prod-2'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.settle();
    const backup = { releases: [...sim.releases], test: sim.cluster('test-1').status };
    sim.run(6 * MINUTE);
    expect(sim.cluster('prod-2').status?.sync?.state).toBe('Applying');
    sim.push('c2', { '*': { app: 'v1' }, 'prod-1': { app: 'v2' } });
    sim.settle();

    sim.releases.clear();
    for (const [name, release] of backup.releases) sim.releases.set(name, release);
    const { status: _lost, ...pipeline } = sim.pipeline;
    sim.pipeline = pipeline;
    for (const name of ['prod-1', 'prod-2']) sim.cluster(name).status = undefined;
    sim.cluster('test-1').status = backup.test;
    // The stage has no commit until test-1 is proven again; meanwhile prod-2 continues.
    sim.cluster('test-1').paused = true;
    sim.restart();
    sim.settle();
    expect(sim.cluster('prod-2')).toMatchObject({ target: { mode: 'Apply', commit: 'c1' } });
    sim.cluster('test-1').paused = false;
    sim.settle();
    expect(sim.cluster('prod-1').target).toMatchObject({ mode: 'Observe', digest: 'app=v1' });
    sim.run(20 * MINUTE);
    expect(sim.cluster('prod-1').applied?.digest).toBe('app=v2');
  });
});

describe('S34 never replaces a healthy busy stage, however often commits come', () => {
  it('advances every stage while one commit a minute comes for 24 hours', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: 3600 }));
    const sim = new PromotionSimulation({ stages });
    sim.quiet = true;
    for (let minute = 0; minute < 24 * 60; minute++) {
      sim.push(`c${minute}`, { '*': { app: `v${minute}` } });
      sim.run(MINUTE);
    }
    const rollout = 3600 * SECOND + 30 * SECOND + 2 * SECOND;
    for (const name of ['test-1', 'pre-1', 'prod-1']) {
      const moments = sim.writes.filter(({ cluster }) => cluster === name).map(({ at }) => at);
      const gaps = moments.slice(1).map((at, index) => at - (moments[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(rollout + MINUTE);
      expect(moments.length).toBeGreaterThanOrEqual(20);
    }
    const last = sim.commits.at(-1)?.id ?? '';
    runUntilProven(sim, last);
  });

  it('takes a newer commit as soon as the current one fails', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(20 * SECOND);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(19 * SECOND);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1']);
    sim.run(2 * SECOND);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('takes a newer commit only after the proof when a failure is within the budget', () => {
    const stages = [
      { name: 'prod', soakSeconds: 600, maxConcurrentClusters: '100%' as const, maxFailedClusters: 1 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['prod-1', 'prod-2', 'prod-3'] });
    sim.cluster('prod-1').unhealthy = 'Failed';
    for (let minute = 0; minute < 60; minute++) {
      sim.push(`c${minute}`, { prod: { app: `v${minute}` } });
      sim.run(MINUTE);
    }
    expect(writtenCommits(sim, 'prod-2')).toEqual(['c0', 'c10', 'c20', 'c31', 'c41', 'c52']);
    expect(writtenCommits(sim, 'prod-1')).toEqual(writtenCommits(sim, 'prod-2'));
  });

  it.each([
    ['an apply that keeps failing', 'Transient'],
    ['an apply that cannot succeed', 'Permanent'],
    ['a held plan', 'Held'],
  ] as const)('takes the fix of %s at once', (_, trouble) => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(2 * HOUR);
    sim.cluster('prod-1').trouble = trouble;
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(30 * MINUTE);
    sim.push('c3', { prod: { app: 'v3' } });
    sim.settle();
    expect(sim.cluster('prod-1').target).toMatchObject({ mode: 'Apply', commit: 'c3' });
  });

  it('takes the fix of an object without a deadline after ten minutes', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.cluster('prod-1').hasDeadline = false;
    sim.cluster('prod-1').unhealthy = 'Progressing';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(9 * MINUTE - SECOND);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1']);
    sim.run(SECOND);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('takes the newest candidate while it has not started', () => {
    const stages = [
      { name: 'test', soakSeconds: 0 },
      { name: 'prod', approval: 'Required' as const, soakSeconds: 0 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'prod-1'] });
    for (const id of ['c1', 'c2', 'c3']) {
      sim.push(id, { '*': { app: id } });
      sim.run(10 * MINUTE);
    }
    const approvals = [{ stage: 'prod', planDigest: sim.release('c3').spec.plan.digest, reason: 'good' }];
    // The approval is a commit that changes no cluster, so its plan digest is the same.
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, approvals } };
    sim.push('c4', { '*': { app: 'c3' } });
    sim.run(10 * MINUTE);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c4']);
    expect(['c1', 'c2', 'c4'].map((id) => stageStates(sim, id))).toEqual([
      'Proven Superseded',
      'Proven Superseded',
      'Proven Proven',
    ]);
  });
});

describe('S38 handles stages without clusters', () => {
  it('holds in a stage whose last cluster was removed, and passes one that never had any', () => {
    const stages = [
      { name: 'test', soakSeconds: 0 },
      { name: 'pre', soakSeconds: 0 },
      { name: 'prod', soakSeconds: 0 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'prod-1'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(10 * MINUTE);
    expect(writtenClusters(sim, 'c1')).toEqual(['test-1', 'prod-1']);
    sim.cluster('test-1').environment = 'prod';
    sim.run(MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(HOUR);
    expect(writtenClusters(sim, 'c2')).toEqual([]);
    expect(sim.release('c2').status?.stages?.[0]?.waiting?.reason).toBe('NoClusters');
  });
});
