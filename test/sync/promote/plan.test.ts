/** Promotion by the numbers of its requirements, in a small sim: what is decided, and when. */
import { describe, expect, it } from 'vitest';
import type { Release, ReleaseStage, SoakClock } from '../../../src/api/generated/types.ts';
import { checkOf } from '../../rollout/builders.ts';
import { digestFor, HOUR, MINUTE, PromotionSimulation, SECOND } from './simulation/simulation.ts';

const DAY = 24 * HOUR;
const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

function stage(sim: PromotionSimulation, commit: string, name: string): ReleaseStage {
  const found = sim.release(commit).status?.stages?.find((each) => each.name === name);
  if (!found) throw new Error(`no stage ${name}`);
  return found;
}

function states(sim: PromotionSimulation, commit: string): string {
  return (sim.release(commit).status?.stages ?? []).map(({ state }) => state).join(' ');
}

function running(sim: PromotionSimulation, name: string): string {
  const { applied, applying } = sim.cluster(name);
  return applying ? `moving to ${applying.digest}` : (applied?.digest ?? 'nothing');
}

function commitsOf(sim: PromotionSimulation, name: string): string[] {
  return sim.writes.filter(({ cluster }) => cluster === name).map(({ commit }) => commit);
}

function clocksOf(sim: PromotionSimulation, name: string): readonly SoakClock[] {
  return sim.cluster(name).status?.sync?.soak?.clocks ?? [];
}

function is(release: Release, type: string): string | undefined {
  return release.status?.conditions.find((condition) => condition.type === type)?.status;
}

/** Another toolchain: every cluster gets other bytes out of the same commits. */
function upgrade(sim: PromotionSimulation): void {
  const renamed = sim.commits.map((commit) => ({
    ...commit,
    targets: new Map(
      [...(commit.targets ?? [])].map(([name, { digest, units }]) => {
        const content = { ...sim.contents.get(digest), label: 'new' };
        sim.contents.set(digestFor(content), content);
        return [name, { digest: digestFor(content), units: new Map([...units, ['label', 'new']]) }];
      }),
    ),
  }));
  sim.commits.splice(0, sim.commits.length, ...renamed);
}

/** Runs to the end of what goes on by itself. */
function proven(sim: PromotionSimulation, commit: string): PromotionSimulation {
  sim.run(4 * DAY, () => sim.release(commit).status?.finishedAt !== undefined);
  expect(states(sim, commit)).toBe('Proven Proven Proven');
  return sim;
}

describe('S31 moves a stage only to commits that the stage before has proven', () => {
  it('brings a commit from stage to stage, each after the proof of the one before', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(89 * SECOND);
    expect(states(sim, 'c1')).toBe('Soaking Waiting Pending');
    expect([running(sim, 'test-1'), running(sim, 'pre-1'), running(sim, 'prod-1')]).toEqual([
      'app=v1',
      'nothing',
      'nothing',
    ]);
    sim.run(1 * SECOND);
    expect(states(sim, 'c1')).toBe('Proven Promoting Waiting');
    expect(running(sim, 'pre-1')).toBe('moving to app=v1');
    sim.run(630 * SECOND);
    expect(states(sim, 'c1')).toBe('Proven Proven Promoting');
    sim.run(3630 * SECOND);
    expect(states(sim, 'c1')).toBe('Proven Proven Proven');
    expect(is(sim.release('c1'), 'Succeeded')).toBe('True');
  });

  it('has different commits in different stages at one time', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(2 * MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(11 * MINUTE);
    expect([states(sim, 'c1'), states(sim, 'c2')]).toEqual([
      'Proven Proven Soaking',
      'Proven Soaking Waiting',
    ]);
  });

  it('skips what lies between in a burst of 20: every stage ends at the last commit', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c0', { '*': { app: 'v0' } });
    proven(sim, 'c0');
    for (let index = 1; index <= 20; index++) {
      sim.push(`c${index}`, { '*': { app: `v${index}` } });
      sim.run(SECOND);
    }
    proven(sim, 'c20');
    expect(commitsOf(sim, 'test-1')).toEqual(['c0', 'c1', 'c20']);
    expect(commitsOf(sim, 'pre-1')).toEqual(['c0', 'c1', 'c20']);
    expect(commitsOf(sim, 'prod-1').at(-1)).toBe('c20');
    expect(sim.release('c7').status?.supersededBy).toBeDefined();
  });

  it('says for each stage which commit it has, which it waits for, and why', () => {
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
    expect(stage(sim, 'c2', 'pre').waiting).toMatchObject({
      reason: 'StageBusy',
      blocker: { kind: 'Release', name: 'fleet-c1' },
      message: 'stage pre is busy with fleet-c1',
    });
    expect(stage(sim, 'c1', 'prod').waiting).toMatchObject({
      reason: 'StageBefore',
      message: 'stage pre has not proven it yet',
    });
  });

  it('does nothing with a commit that is not rendered', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.commits.push({ id: 'c1' });
    sim.run(HOUR);
    expect(sim.writes).toEqual([]);
    expect([...sim.releases]).toEqual([]);
  });
});

describe('S32 proves content, not commits: an unchanged digest needs no new soak', {
  timeout: 600_000,
}, () => {
  const long = STAGES.map((each) => ({ ...each, soakSeconds: 86_400 }));

  it('passes a commit of documents through three stages with 24 h soaks at once, with 0 writes', () => {
    const sim = new PromotionSimulation({ stages: long });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(4 * DAY);
    const writes = sim.writes.length;
    const { now } = sim;
    sim.push('c2', { '*': { app: 'v1' } });
    sim.settle();
    expect(states(sim, 'c2')).toBe('Proven Proven Proven');
    expect([sim.now, sim.writes.length]).toEqual([now, writes]);
    expect(stage(sim, 'c2', 'prod').clusters).toMatchObject({ total: 1, proven: 1, unchanged: 1 });
  });

  it('leaves the end of a running soak as it is', () => {
    const sim = new PromotionSimulation({ stages: long });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(HOUR);
    const end = stage(sim, 'c1', 'test').soakUntil;
    sim.push('c2', { '*': { app: 'v1' } });
    sim.run(HOUR);
    expect(stage(sim, 'c1', 'test').soakUntil).toBe(end);
    sim.run(DAY);
    expect(stage(sim, 'c1', 'test').state).toBe('Proven');
    expect(stage(sim, 'c2', 'test')).toMatchObject({ state: 'Proven', clusters: { unchanged: 1 } });
    expect(commitsOf(sim, 'test-1')).toEqual(['c1']);
  });

  it('inherits a soak that runs on one cluster while another has failed', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 3600 }],
      clusters: ['prod-1', 'prod-2'],
    });
    sim.push('c1', { 'prod-1': { app: 'v1' }, 'prod-2': { app: 'bad1' } });
    sim.run(20 * MINUTE);
    const since = clocksOf(sim, 'prod-1')[0]?.since;
    sim.push('c2', { 'prod-1': { app: 'v1' }, 'prod-2': { app: 'v2' } });
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').status?.sync).toMatchObject({ commit: 'c2', state: 'Soaking' });
    expect(clocksOf(sim, 'prod-1')[0]?.since).toBe(since);
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1']);
  });

  it('inherits a failure, and begins on no further cluster', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: ['prod-1', 'prod-2'] });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    expect(stage(sim, 'c1', 'prod').state).toBe('Failed');
    sim.push('c2', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    expect(stage(sim, 'c2', 'prod')).toMatchObject({
      state: 'Failed',
      waiting: { reason: 'FailureBudgetSpent' },
    });
    expect(sim.writes.map(({ cluster, commit }) => `${cluster} ${commit}`)).toEqual(['prod-1 c1']);
  });

  it('does not begin again what failed there, unless the failure is acknowledged', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: ['prod-1'] });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(10 * MINUTE);
    sim.push('c3', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    expect(stage(sim, 'c3', 'prod').state).toBe('Failed');
    expect(running(sim, 'prod-1')).toBe('app=v2');
    const acknowledgements = [
      { planDigest: digestFor({ app: 'bad1' }), unit: 'app', reason: 'the disk was full' },
    ];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, acknowledgements } };
    sim.settle();
    expect(running(sim, 'prod-1')).toBe('moving to app=bad1');
  });

  it('ends a failure when the gates hold for a whole soak', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(5 * MINUTE);
    sim.cluster('prod-1').unhealthy = 'Failed';
    sim.run(MINUTE);
    expect(stage(sim, 'c1', 'prod').state).toBe('Failed');
    sim.cluster('prod-1').unhealthy = 'No';
    sim.run(599 * SECOND);
    expect(stage(sim, 'c1', 'prod').state).toBe('Failed');
    sim.run(SECOND);
    expect(stage(sim, 'c1', 'prod').state).toBe('Proven');
  });

  it('ends the failure of what still runs when it is acknowledged, is seen healthy again, and has a place', () => {
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
    expect(stage(sim, 'c1', 'prod').state).toBe('Failed');
    sim.cluster('prod-1').unhealthy = 'No';
    sim.settle();
    expect(stage(sim, 'c1', 'prod').clusters).toMatchObject({ failed: 0, soaking: 1, pending: 1 });
    sim.run(599 * SECOND);
    expect(commitsOf(sim, 'prod-2')).toEqual([]);
    sim.run(SECOND);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Proven');
    expect(commitsOf(sim, 'prod-2')).toEqual(['c1']);
  });

  it('marks what no earlier stage ran, and can ask for an approval of it', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: 0, approval: 'Unexercised' as const }));
    const sim = new PromotionSimulation({ stages });
    sim.push('c1', { '*': { app: 'v1' } });
    proven(sim, 'c1');
    expect(sim.release('c1').spec.plan.unexercised).toBe(0);
    sim.push('c2', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    sim.run(HOUR);
    const { plan } = sim.release('c2').spec;
    expect(plan).toMatchObject({ clusters: 3, changed: 1, unexercised: 1 });
    expect(stage(sim, 'c2', 'prod')).toMatchObject({
      state: 'Waiting',
      waiting: { reason: 'ApprovalRequired' },
    });
    // The approval is a commit of its own, which changes no cluster: its plan is the same.
    const approvals = [{ stage: 'prod', planDigest: plan.digest, reason: 'looked at it' }];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, approvals } };
    sim.push('c3', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    sim.run(HOUR);
    expect(running(sim, 'prod-1')).toBe('app=v2');
    expect(stage(sim, 'c3', 'prod').state).toBe('Proven');
  });

  it.each([
    ['None', 'v2', 'Proven'],
    ['Unexercised', 'v2', 'Proven'],
    ['Required', 'v2', 'Waiting'],
    ['Required', 'v1', 'Proven'],
  ] as const)('with approval %s and prod at %s the stage is %s', (approval, version, state) => {
    const stages = STAGES.map((each) => ({
      ...each,
      soakSeconds: 0,
      ...(each.name === 'prod' ? { approval } : {}),
    }));
    const approvals: { stage: string; planDigest: string; reason: string }[] = [];
    const sim = new PromotionSimulation({ stages, pipeline: { approvals } });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.settle();
    approvals.push({ stage: 'prod', planDigest: sim.release('c1').spec.plan.digest, reason: 'the first' });
    proven(sim, 'c1');
    sim.push('c2', { '*': { app: version } });
    sim.run(HOUR);
    expect(stage(sim, 'c2', 'prod').state).toBe(state);
  });
});

describe('S33 skips the soak of a revert to a proven digest', { timeout: 600_000 }, () => {
  const slow = STAGES.map((each) => ({ ...each, soakSeconds: 86_400 }));

  function failing(version: (name: string) => string): PromotionSimulation {
    const sim = new PromotionSimulation({ stages: slow });
    sim.push('c1', { '*': { app: 'v1' } });
    proven(sim, 'c1');
    sim.push('c2', {
      test: { app: version('test') },
      pre: { app: version('pre') },
      prod: { app: version('prod') },
    });
    sim.run(3 * DAY);
    return sim;
  }

  it.each([
    ['prod fails and test is healthy', (name: string) => (name === 'prod' ? 'bad2' : 'v2')],
    ['the first stage fails', () => 'bad2'],
  ])('a revert is back everywhere without a soak when %s', (_, version) => {
    const sim = failing(version);
    sim.push('c3', { '*': { app: 'v1' } });
    const began = sim.now;
    sim.run(DAY, () => sim.release('c3').status?.finishedAt !== undefined);
    expect(states(sim, 'c3')).toBe('Proven Proven Proven');
    // Three stages at 30 s of rolling out each, and nothing besides.
    expect(sim.now - began).toBeLessThanOrEqual(90 * SECOND + 60 * SECOND);
    for (const name of ['test-1', 'pre-1', 'prod-1']) expect(running(sim, name)).toBe('app=v1');
  });

  it('runs the gates once all the same', () => {
    const checks = [checkOf({ name: 'errors' })];
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600, checks }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(2 * HOUR);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(MINUTE);
    sim.checkResult = () => 'Failed';
    sim.push('c3', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    expect(stage(sim, 'c3', 'prod')).toMatchObject({ state: 'Failed' });
  });

  it('pre-empts a healthy soak only for what goes back to proven digests', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 7200 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1', base: 'v1' } });
    sim.run(3 * HOUR);
    sim.push('c2', { prod: { app: 'v2', base: 'v1' } });
    sim.run(HOUR);
    sim.push('c3', { prod: { app: 'v1', base: 'v3' } });
    sim.run(HOUR);
    expect(stage(sim, 'c3', 'prod').waiting?.reason).toBe('StageBusy');
    sim.push('c4', { prod: { app: 'v1', base: 'v1' } });
    sim.run(MINUTE);
    expect(stage(sim, 'c4', 'prod').state).toBe('Proven');
    expect(stage(sim, 'c2', 'prod').state).toBe('Superseded');
  });

  it('does not take the lane with a digest that failed since its proof', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(2 * HOUR);
    sim.cluster('prod-1').unhealthy = 'Failed';
    sim.run(MINUTE);
    sim.cluster('prod-1').unhealthy = 'No';
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(2 * HOUR);
    sim.push('c3', { prod: { app: 'v1' } });
    sim.run(2 * HOUR);
    expect(stage(sim, 'c3', 'prod').state).toBe('Failed');
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('by unit: after bad in A, good in B, revert of A, the soak that remains is that of B', () => {
    const stages = [{ name: 'prod', soakSeconds: 3600, maxConcurrentClusters: 2 }];
    const sim = new PromotionSimulation({ stages, clusters: ['prod-1', 'prod-2'] });
    sim.push('c1', { prod: { a: 'v1', b: 'v1' } });
    sim.run(2 * HOUR);
    // prod-2 shows that A is bad; prod-1 runs B well for 30 minutes.
    sim.push('c2', { 'prod-1': { a: 'v2', b: 'v2' }, 'prod-2': { a: 'bad2', b: 'v2' } });
    sim.run(30 * MINUTE);
    const soaking = clocksOf(sim, 'prod-1');
    const bSince = soaking.find(({ unit }) => unit === 'b')?.since;
    expect(soaking.map(({ unit }) => unit)).toEqual(['a', 'b']);
    sim.push('c3', { prod: { a: 'v1', b: 'v2' } });
    sim.run(MINUTE);
    expect(clocksOf(sim, 'prod-1')).toEqual([{ unit: 'b', digest: 'v2', since: bSince }]);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Soaking');
  });
});

describe('S34 never replaces a healthy busy stage, however often commits come', { timeout: 600_000 }, () => {
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
    proven(sim, last);
  });

  it('lets a newer commit in as soon as the one before fails', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 3600 }],
      clusters: ['prod-1'],
    });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(20 * SECOND);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(19 * SECOND);
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1']);
    sim.run(2 * SECOND);
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('a failure within the budget starves nobody: what is newer comes after the proof', () => {
    const stages = [
      { name: 'prod', soakSeconds: 600, maxConcurrentClusters: '100%' as const, maxFailedClusters: 1 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['prod-1', 'prod-2', 'prod-3'] });
    sim.cluster('prod-1').unhealthy = 'Failed';
    for (let minute = 0; minute < 60; minute++) {
      sim.push(`c${minute}`, { prod: { app: `v${minute}` } });
      sim.run(MINUTE);
    }
    expect(commitsOf(sim, 'prod-2')).toEqual(['c0', 'c10', 'c20', 'c31', 'c41', 'c52']);
    expect(commitsOf(sim, 'prod-1')).toEqual(commitsOf(sim, 'prod-2'));
  });

  it.each([
    ['an apply that goes on failing', 'Transient'],
    ['an apply that cannot succeed', 'Permanent'],
    ['a hold of the judge', 'Held'],
  ] as const)('%s does not keep its fix out', (_, trouble) => {
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

  it('an object that nobody gives up on does not keep the fix out for more than ten minutes', () => {
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
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1']);
    sim.run(SECOND);
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('takes the newest candidate while it has not begun', () => {
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
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, approvals } };
    sim.run(10 * MINUTE);
    expect(commitsOf(sim, 'prod-1')).toEqual(['c3']);
    expect([states(sim, 'c1'), states(sim, 'c3')]).toEqual(['Proven Superseded', 'Proven Proven']);
  });
});

describe('S15 replaces a failing target at once', () => {
  it('takes the place of one that fails at any moment, at once', () => {
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

describe('S32 promotes a commit again when it renders to something else', () => {
  it('goes through the stages in their order once more, after the soak of each', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    proven(sim, 'c1');
    upgrade(sim);
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
    expect(running(sim, 'prod-1')).toBe('app=v1 label=new');
  });

  it('that fails in the first stage goes no further, and lets the next commit in everywhere', () => {
    const sim = new PromotionSimulation({ stages: STAGES });
    sim.push('c1', { '*': { app: 'v1' } });
    proven(sim, 'c1');
    upgrade(sim);
    sim.cluster('test-1').unhealthy = 'Failed';
    sim.run(HOUR);
    expect(running(sim, 'prod-1')).toBe('app=v1');
    sim.cluster('test-1').unhealthy = 'No';
    sim.push('c2', { '*': { app: 'v2' } });
    proven(sim, 'c2');
    expect(running(sim, 'prod-1')).toBe('app=v2');
  });

  it('in the middle of a stage begins nobody there, and does not keep the next commit out', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: each.name === 'prod' ? 3600 : 0 }));
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'pre-1', 'prod-1', 'prod-2'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(10 * MINUTE);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Soaking');
    sim.push('c2', { '*': { app: 'v2' } });
    sim.settle();
    upgrade(sim);
    sim.run(2 * MINUTE);
    expect(commitsOf(sim, 'prod-1')).toEqual(['c1', 'c2']);
    expect(commitsOf(sim, 'prod-2')).toEqual([]);
    proven(sim, 'c2');
  });
});
