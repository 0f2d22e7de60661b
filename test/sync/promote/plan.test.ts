import { describe, expect, it } from 'vitest';
import {
  conditionStatus,
  runningContent,
  runUntilProven,
  soakClocks,
  stageStates,
  stageStatus,
  writtenCommits,
} from './simulation/queries.ts';
import { DAY, digestFor, HOUR, MINUTE, PromotionSimulation, SECOND } from './simulation/simulation.ts';

const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

describe('S31 moves a stage only to commits that the stage before has proven', () => {
  it('promotes a commit to each stage after its proof in the stage before', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(89 * SECOND);
    expect(stageStates(sim, 'c1')).toBe('Soaking Waiting Pending');
    expect([
      runningContent(sim, 'test-1'),
      runningContent(sim, 'pre-1'),
      runningContent(sim, 'prod-1'),
    ]).toEqual(['app=v1', 'nothing', 'nothing']);
    sim.run(1 * SECOND);
    expect(stageStates(sim, 'c1')).toBe('Proven Promoting Waiting');
    expect(runningContent(sim, 'pre-1')).toBe('moving to app=v1');
    sim.run(630 * SECOND);
    expect(stageStates(sim, 'c1')).toBe('Proven Proven Promoting');
    sim.run(3630 * SECOND);
    expect(stageStates(sim, 'c1')).toBe('Proven Proven Proven');
    expect(conditionStatus(sim.release('c1'), 'Succeeded')).toBe('True');
  });

  it('has different commits in different stages at the same time', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(2 * MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(11 * MINUTE);
    expect([stageStates(sim, 'c1'), stageStates(sim, 'c2')]).toEqual([
      'Proven Proven Soaking',
      'Proven Soaking Waiting',
    ]);
  });

  it('skips commits in a burst of 20: every stage ends at the last one', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c0', { '*': { app: 'v0' } });
    runUntilProven(sim, 'c0');
    for (let index = 1; index <= 20; index++) {
      sim.push(`c${index}`, { '*': { app: `v${index}` } });
      sim.run(SECOND);
    }
    runUntilProven(sim, 'c20');
    expect(writtenCommits(sim, 'test-1')).toEqual(['c0', 'c1', 'c20']);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c0', 'c1', 'c20']);
    expect(writtenCommits(sim, 'prod-1').at(-1)).toBe('c20');
    expect(sim.release('c7').status?.supersededBy).toBeDefined();
  });

  it('reports for each stage its commit, what it waits for, and why', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(2 * MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(2 * MINUTE);
    const { status } = sim.pipeline;
    expect(status?.stages?.map(({ name, commit, release }) => [name, commit, release])).toEqual([
      ['test', 'c2', 'fleet-c2'],
      ['pre', undefined, 'fleet-c1'],
      ['prod', undefined, 'fleet-c2'],
    ]);
    expect(stageStatus(sim, 'c2', 'pre').waiting).toMatchObject({
      reason: 'StageBusy',
      blocker: { kind: 'Release', name: 'fleet-c1' },
      message: 'stage pre is busy with fleet-c1',
    });
    expect(stageStatus(sim, 'c1', 'prod').waiting).toMatchObject({
      reason: 'StageBefore',
      message: 'stage pre has not proven it yet',
    });
  });

  it('does nothing for a commit that is not rendered', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.commits.push({ id: 'c1' });
    sim.run(HOUR);
    expect(sim.writes).toEqual([]);
    expect([...sim.releases]).toEqual([]);
  });
});

describe('S32 proves content, not commits: an unchanged digest needs no new soak', () => {
  const long = STAGES.map((each) => ({ ...each, soakSeconds: 86_400 }));

  it('proves a documents-only commit in three stages with 24 h soaks at once, with 0 writes', () => {
    const sim = new PromotionSimulation({ stages: long });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(4 * DAY);
    const writes = sim.writes.length;
    const { now } = sim;
    sim.push('c2', { '*': { app: 'v1' } });
    sim.settle();
    expect(stageStates(sim, 'c2')).toBe('Proven Proven Proven');
    expect([sim.now, sim.writes.length]).toEqual([now, writes]);
    expect(stageStatus(sim, 'c2', 'prod').clusters).toMatchObject({ total: 1, proven: 1, unchanged: 1 });
  });

  it('does not change the end of a running soak', () => {
    const sim = new PromotionSimulation({ stages: long });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(HOUR);
    const end = stageStatus(sim, 'c1', 'test').soakUntil;
    sim.push('c2', { '*': { app: 'v1' } });
    sim.run(HOUR);
    expect(stageStatus(sim, 'c1', 'test').soakUntil).toBe(end);
    sim.run(DAY);
    expect(stageStatus(sim, 'c1', 'test').state).toBe('Proven');
    expect(stageStatus(sim, 'c2', 'test')).toMatchObject({ state: 'Proven', clusters: { unchanged: 1 } });
    expect(writtenCommits(sim, 'test-1')).toEqual(['c1']);
  });

  it('inherits the soak of one cluster while another has failed', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 3600 }],
      clusters: ['prod-1', 'prod-2'],
    });
    sim.push('c1', { 'prod-1': { app: 'v1' }, 'prod-2': { app: 'bad1' } });
    sim.run(20 * MINUTE);
    const since = soakClocks(sim, 'prod-1')[0]?.since;
    sim.push('c2', { 'prod-1': { app: 'v1' }, 'prod-2': { app: 'v2' } });
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').status?.sync).toMatchObject({ commit: 'c2', state: 'Soaking' });
    expect(soakClocks(sim, 'prod-1')[0]?.since).toBe(since);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1']);
  });

  it('inherits a failure, and starts no further cluster', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: ['prod-1', 'prod-2'] });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    expect(stageStatus(sim, 'c1', 'prod').state).toBe('Failed');
    sim.push('c2', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    expect(stageStatus(sim, 'c2', 'prod')).toMatchObject({
      state: 'Failed',
      waiting: { reason: 'FailureBudgetSpent' },
    });
    expect(sim.writes.map(({ cluster, commit }) => `${cluster} ${commit}`)).toEqual(['prod-1 c1']);
  });

  it('does not start failed content again, unless the failure is acknowledged', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: ['prod-1'] });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(10 * MINUTE);
    sim.push('c3', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    expect(stageStatus(sim, 'c3', 'prod').state).toBe('Failed');
    expect(runningContent(sim, 'prod-1')).toBe('app=v2');
    const acknowledgements = [
      { planDigest: digestFor({ app: 'bad1' }), unit: 'app', reason: 'the disk was full' },
    ];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, acknowledgements } };
    sim.settle();
    expect(runningContent(sim, 'prod-1')).toBe('moving to app=bad1');
  });
});

describe('returns to content that was proven, failed later and was replaced', () => {
  it('soaks it again, and proves it', () => {
    const sim = afterFailure();
    sim.cluster('prod-1').unhealthy = 'No';
    revertTo(sim, 'c3');
    expect([runningContent(sim, 'prod-1'), stageStatus(sim, 'c3', 'prod').state]).toEqual([
      'app=v1',
      'Proven',
    ]);
  });

  it('as often as something else makes it fail, or replaces it before it is proven', () => {
    const sim = afterFailure();
    revertTo(sim, 'c3');
    sim.push('c4', { prod: { app: 'v2' } });
    sim.run(MINUTE);
    sim.push('c5', { prod: { app: 'v1' } });
    sim.run(SECOND);
    sim.push('c6', { prod: { app: 'v3' } });
    sim.run(MINUTE);
    revertTo(sim, 'c7');
    sim.push('c8', { prod: { app: 'v2' } });
    sim.run(MINUTE);
    sim.cluster('prod-1').unhealthy = 'No';
    revertTo(sim, 'c9');
    expect([runningContent(sim, 'prod-1'), stageStatus(sim, 'c9', 'prod').state]).toEqual([
      'app=v1',
      'Proven',
    ]);
  });
});

describe('S15 replaces a failing target at once', () => {
  it('replaces a failing commit at any moment, at once', () => {
    for (let moment = 0; moment < 30; moment++) {
      const sim = new PromotionSimulation({
        stages: [{ name: 'prod', soakSeconds: 3600 }],
        clusters: ['prod-1'],
      });
      sim.push('c1', { prod: { app: 'bad1' } });
      sim.run(40 * SECOND + moment * 61 * SECOND);
      sim.push('c2', { prod: { app: 'v2' } });
      sim.settle();
      expect(sim.writes.at(-1)).toMatchObject({ commit: 'c2', at: sim.now });
    }
  });

  it('does not cut a healthy soak short', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(10 * MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(40 * MINUTE);
    expect(sim.cluster('prod-1').target?.commit).toBe('c1');
  });
});

function revertTo(sim: PromotionSimulation, commit: string): void {
  sim.push(commit, { prod: { app: 'v1' } });
  sim.run(10 * MINUTE);
}

function afterFailure(): PromotionSimulation {
  const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: ['prod-1'] });
  sim.push('c1', { prod: { app: 'v1' } });
  sim.run(10 * MINUTE);
  sim.cluster('prod-1').unhealthy = 'Failed';
  sim.run(MINUTE);
  expect(sim.cluster('prod-1').status?.sync?.state).toBe('Failed');
  sim.push('c2', { prod: { app: 'v2' } });
  sim.run(MINUTE);
  return sim;
}

describe('what failed in several clusters', () => {
  const because = 'componentUpdate kubelet-2 failed in test-1, other-1';

  /** The commit has passed test when it is held for half an hour. */
  function heldAfterTest(commits?: ReadonlySet<string>): PromotionSimulation {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c1');
    sim.push('c2', { '*': { app: 'v2' } });
    sim.settle();
    const until = new Date(sim.now + 30 * MINUTE);
    sim.holds = [{ policy: 'fleet', because, until, ...(commits ? { commits } : {}) }];
    sim.run(10 * MINUTE);
    return sim;
  }

  it('is promoted to no further stage, and states why', () => {
    const sim = heldAfterTest(new Set(['c2']));
    expect(stageStatus(sim, 'c2', 'test').state).toBe('Proven');
    expect(stageStatus(sim, 'c2', 'pre').waiting).toMatchObject({
      reason: 'FleetCause',
      message: because,
      blocker: { kind: 'FleetPolicy', name: 'fleet' },
    });
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
  });

  it('lets a newer commit pass, which may be the fix', () => {
    const sim = heldAfterTest(new Set(['c2']));
    sim.push('c3', { '*': { app: 'v3' } });
    runUntilProven(sim, 'c3');
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1', 'c3']);
  });

  it('holds every commit where no single one is the cause, and no revert', () => {
    const sim = heldAfterTest();
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(10 * MINUTE);
    expect(writtenCommits(sim, 'test-1')).toEqual(['c1', 'c2']);
    sim.push('c4', { '*': { app: 'v1' } });
    sim.run(10 * MINUTE);
    expect(writtenCommits(sim, 'test-1')).toEqual(['c1', 'c2', 'c4']);
    expect(stageStatus(sim, 'c4', 'prod').state).toBe('Proven');
  });

  it('starts no further cluster of the stage that has it', () => {
    const stage = { name: 'prod', maxConcurrentClusters: 1, soakSeconds: 60 };
    const sim = new PromotionSimulation({ stages: [stage], clusters: ['prod-1', 'prod-2'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(10 * SECOND);
    expect(writtenCommits(sim, 'prod-1')).toEqual(['c1']);
    sim.holds = [{ commits: new Set(['c1']), policy: 'fleet', because, until: new Date(sim.now + DAY) }];
    sim.run(10 * MINUTE);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Proven');
    expect(writtenCommits(sim, 'prod-2')).toEqual([]);
    expect(stageStatus(sim, 'c1', 'prod').waiting).toMatchObject({ reason: 'FleetCause' });
  });

  it('goes on when it is not held any more', () => {
    const sim = heldAfterTest(new Set(['c2']));
    sim.holds = [];
    runUntilProven(sim, 'c2');
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1', 'c2']);
  });
});
