/** Promotion by the numbers of its requirements, in a small world: what is decided, and when. */
import { describe, expect, it } from 'vitest';
import type { Release, ReleaseStage, SoakClock } from '../../../src/api/generated/types.ts';
import { checkOf, digestFor, HOUR, MINUTE, SECOND, SmallWorld } from './small-world.ts';

const DAY = 24 * HOUR;
const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

function stage(world: SmallWorld, commit: string, name: string): ReleaseStage {
  const found = world.release(commit).status?.stages?.find((each) => each.name === name);
  if (!found) throw new Error(`no stage ${name}`);
  return found;
}

function states(world: SmallWorld, commit: string): string {
  return (world.release(commit).status?.stages ?? []).map(({ state }) => state).join(' ');
}

function running(world: SmallWorld, name: string): string {
  const { applied, working } = world.cluster(name);
  return working ? `moving to ${working.digest}` : (applied?.digest ?? 'nothing');
}

function commitsOf(world: SmallWorld, name: string): string[] {
  return world.writes.filter(({ cluster }) => cluster === name).map(({ commit }) => commit);
}

function clocksOf(world: SmallWorld, name: string): readonly SoakClock[] {
  return world.cluster(name).status?.sync?.soak?.clocks ?? [];
}

function is(release: Release, type: string): string | undefined {
  return release.status?.conditions.find((condition) => condition.type === type)?.status;
}

/** Another toolchain: every cluster gets other bytes out of the same commits. */
function upgrade(world: SmallWorld): void {
  const renamed = world.commits.map((commit) => ({
    ...commit,
    targets: new Map(
      [...(commit.targets ?? [])].map(([name, { digest, units }]) => {
        const content = { ...world.contents.get(digest), label: 'new' };
        world.contents.set(digestFor(content), content);
        return [name, { digest: digestFor(content), units: new Map([...units, ['label', 'new']]) }];
      }),
    ),
  }));
  world.commits.splice(0, world.commits.length, ...renamed);
}

/** Runs to the end of what goes on by itself. */
function proven(world: SmallWorld, commit: string): SmallWorld {
  world.run(4 * DAY, () => world.release(commit).status?.finishedAt !== undefined);
  expect(states(world, commit)).toBe('Proven Proven Proven');
  return world;
}

describe('S31 moves a stage only to commits that the stage before has proven', () => {
  it('brings a commit from stage to stage, each after the proof of the one before', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(89 * SECOND);
    expect(states(world, 'c1')).toBe('Soaking Waiting Pending');
    expect([running(world, 'test-1'), running(world, 'pre-1'), running(world, 'prod-1')]).toEqual([
      'app=v1',
      'nothing',
      'nothing',
    ]);
    world.run(1 * SECOND);
    expect(states(world, 'c1')).toBe('Proven Promoting Waiting');
    expect(running(world, 'pre-1')).toBe('moving to app=v1');
    world.run(630 * SECOND);
    expect(states(world, 'c1')).toBe('Proven Proven Promoting');
    world.run(3630 * SECOND);
    expect(states(world, 'c1')).toBe('Proven Proven Proven');
    expect(is(world.release('c1'), 'Succeeded')).toBe('True');
  });

  it('has different commits in different stages at one time', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(2 * MINUTE);
    world.push('c2', { '*': { app: 'v2' } });
    world.run(11 * MINUTE);
    expect([states(world, 'c1'), states(world, 'c2')]).toEqual([
      'Proven Proven Soaking',
      'Proven Soaking Waiting',
    ]);
  });

  it('skips what lies between in a burst of 20: every stage ends at the last commit', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.push('c0', { '*': { app: 'v0' } });
    proven(world, 'c0');
    for (let index = 1; index <= 20; index++) {
      world.push(`c${index}`, { '*': { app: `v${index}` } });
      world.run(SECOND);
    }
    proven(world, 'c20');
    expect(commitsOf(world, 'test-1')).toEqual(['c0', 'c1', 'c20']);
    expect(commitsOf(world, 'pre-1')).toEqual(['c0', 'c1', 'c20']);
    expect(commitsOf(world, 'prod-1').at(-1)).toBe('c20');
    expect(world.release('c7').status?.supersededBy).toBeDefined();
  });

  it('says for each stage which commit it has, which it waits for, and why', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(2 * MINUTE);
    world.push('c2', { '*': { app: 'v2' } });
    world.run(2 * MINUTE);
    const { status } = world.pipeline;
    expect(status?.stages?.map(({ name, commit, release }) => [name, commit, release])).toEqual([
      ['test', 'c2', 'fleet-c2'],
      ['pre', undefined, 'fleet-c1'],
      ['prod', undefined, 'fleet-c2'],
    ]);
    expect(stage(world, 'c2', 'pre').waiting).toMatchObject({
      reason: 'StageBusy',
      blocker: { kind: 'Release', name: 'fleet-c1' },
      message: 'stage pre is busy with fleet-c1',
    });
    expect(stage(world, 'c1', 'prod').waiting).toMatchObject({
      reason: 'StageBefore',
      message: 'stage pre has not proven it yet',
    });
  });

  it('does nothing with a commit that is not rendered', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.commits.push({ id: 'c1' });
    world.run(HOUR);
    expect(world.writes).toEqual([]);
    expect([...world.releases]).toEqual([]);
  });
});

describe('S32 proves content, not commits: an unchanged digest needs no new soak', {
  timeout: 600_000,
}, () => {
  const long = STAGES.map((each) => ({ ...each, soakSeconds: 86_400 }));

  it('passes a commit of documents through three stages with 24 h soaks at once, with 0 writes', () => {
    const world = new SmallWorld({ stages: long });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(4 * DAY);
    const writes = world.writes.length;
    const { now } = world;
    world.push('c2', { '*': { app: 'v1' } });
    world.settle();
    expect(states(world, 'c2')).toBe('Proven Proven Proven');
    expect([world.now, world.writes.length]).toEqual([now, writes]);
    expect(stage(world, 'c2', 'prod').clusters).toMatchObject({ total: 1, proven: 1, unchanged: 1 });
  });

  it('leaves the end of a running soak as it is', () => {
    const world = new SmallWorld({ stages: long });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(HOUR);
    const end = stage(world, 'c1', 'test').soakUntil;
    world.push('c2', { '*': { app: 'v1' } });
    world.run(HOUR);
    expect(stage(world, 'c1', 'test').soakUntil).toBe(end);
    world.run(DAY);
    expect(stage(world, 'c1', 'test').state).toBe('Proven');
    expect(stage(world, 'c2', 'test')).toMatchObject({ state: 'Proven', clusters: { unchanged: 1 } });
    expect(commitsOf(world, 'test-1')).toEqual(['c1']);
  });

  it('inherits a soak that runs on one cluster while another has failed', () => {
    const world = new SmallWorld({
      stages: [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 3600 }],
      clusters: ['prod-1', 'prod-2'],
    });
    world.push('c1', { 'prod-1': { app: 'v1' }, 'prod-2': { app: 'bad1' } });
    world.run(20 * MINUTE);
    const since = clocksOf(world, 'prod-1')[0]?.since;
    world.push('c2', { 'prod-1': { app: 'v1' }, 'prod-2': { app: 'v2' } });
    world.run(MINUTE);
    expect(world.cluster('prod-1').status?.sync).toMatchObject({ commit: 'c2', state: 'Soaking' });
    expect(clocksOf(world, 'prod-1')[0]?.since).toBe(since);
    expect(commitsOf(world, 'prod-1')).toEqual(['c1']);
  });

  it('inherits a failure, and begins on no further cluster', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod' }], clusters: ['prod-1', 'prod-2'] });
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(10 * MINUTE);
    expect(stage(world, 'c1', 'prod').state).toBe('Failed');
    world.push('c2', { prod: { app: 'bad1' } });
    world.run(10 * MINUTE);
    expect(stage(world, 'c2', 'prod')).toMatchObject({
      state: 'Failed',
      waiting: { reason: 'FailureBudgetSpent' },
    });
    expect(world.writes.map(({ cluster, commit }) => `${cluster} ${commit}`)).toEqual(['prod-1 c1']);
  });

  it('does not begin again what failed there, unless the failure is acknowledged', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod' }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(10 * MINUTE);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(10 * MINUTE);
    world.push('c3', { prod: { app: 'bad1' } });
    world.run(10 * MINUTE);
    expect(stage(world, 'c3', 'prod').state).toBe('Failed');
    expect(running(world, 'prod-1')).toBe('app=v2');
    const acknowledgements = [
      { planDigest: digestFor({ app: 'bad1' }), unit: 'app', reason: 'the disk was full' },
    ];
    world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, acknowledgements } };
    world.settle();
    expect(running(world, 'prod-1')).toBe('moving to app=bad1');
  });

  it('ends a failure when the gates hold for a whole soak', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 600 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(5 * MINUTE);
    world.cluster('prod-1').ill = 'Failed';
    world.run(MINUTE);
    expect(stage(world, 'c1', 'prod').state).toBe('Failed');
    world.cluster('prod-1').ill = 'No';
    world.run(599 * SECOND);
    expect(stage(world, 'c1', 'prod').state).toBe('Failed');
    world.run(SECOND);
    expect(stage(world, 'c1', 'prod').state).toBe('Proven');
  });

  it('ends the failure of what still runs when it is acknowledged, is seen healthy again, and has a place', () => {
    const stages = [{ name: 'prod', soakSeconds: 600 }];
    const world = new SmallWorld({ stages, clusters: ['prod-1', 'prod-2'] });
    world.push('c1', { prod: { app: 'v1' } });
    world.cluster('prod-1').ill = 'Failed';
    world.run(5 * MINUTE);
    const acknowledgements = [
      { planDigest: digestFor({ app: 'v1' }), unit: 'app', reason: 'the disk was full' },
    ];
    world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, acknowledgements } };
    world.run(MINUTE);
    expect(stage(world, 'c1', 'prod').state).toBe('Failed');
    world.cluster('prod-1').ill = 'No';
    world.settle();
    expect(stage(world, 'c1', 'prod').clusters).toMatchObject({ failed: 0, soaking: 1, pending: 1 });
    world.run(599 * SECOND);
    expect(commitsOf(world, 'prod-2')).toEqual([]);
    world.run(SECOND);
    expect(world.cluster('prod-1').status?.sync?.state).toBe('Proven');
    expect(commitsOf(world, 'prod-2')).toEqual(['c1']);
  });

  it('marks what no earlier stage ran, and can ask for an approval of it', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: 0, approval: 'Unexercised' as const }));
    const world = new SmallWorld({ stages });
    world.push('c1', { '*': { app: 'v1' } });
    proven(world, 'c1');
    expect(world.release('c1').spec.plan.unexercised).toBe(0);
    world.push('c2', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    world.run(HOUR);
    const { plan } = world.release('c2').spec;
    expect(plan).toMatchObject({ clusters: 3, changed: 1, unexercised: 1 });
    expect(stage(world, 'c2', 'prod')).toMatchObject({
      state: 'Waiting',
      waiting: { reason: 'ApprovalRequired' },
    });
    // The approval is a commit of its own, which changes no cluster: its plan is the same.
    const approvals = [{ stage: 'prod', planDigest: plan.digest, reason: 'looked at it' }];
    world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, approvals } };
    world.push('c3', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    world.run(HOUR);
    expect(running(world, 'prod-1')).toBe('app=v2');
    expect(stage(world, 'c3', 'prod').state).toBe('Proven');
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
    const world = new SmallWorld({ stages, pipeline: { approvals } });
    world.push('c1', { '*': { app: 'v1' } });
    world.settle();
    approvals.push({ stage: 'prod', planDigest: world.release('c1').spec.plan.digest, reason: 'the first' });
    proven(world, 'c1');
    world.push('c2', { '*': { app: version } });
    world.run(HOUR);
    expect(stage(world, 'c2', 'prod').state).toBe(state);
  });
});

describe('S33 skips the soak of a revert to a proven digest', { timeout: 600_000 }, () => {
  const slow = STAGES.map((each) => ({ ...each, soakSeconds: 86_400 }));

  function failing(version: (name: string) => string): SmallWorld {
    const world = new SmallWorld({ stages: slow });
    world.push('c1', { '*': { app: 'v1' } });
    proven(world, 'c1');
    world.push('c2', {
      test: { app: version('test') },
      pre: { app: version('pre') },
      prod: { app: version('prod') },
    });
    world.run(3 * DAY);
    return world;
  }

  it.each([
    ['prod fails and test is healthy', (name: string) => (name === 'prod' ? 'bad2' : 'v2')],
    ['the first stage fails', () => 'bad2'],
  ])('a revert is back everywhere without a soak when %s', (_, version) => {
    const world = failing(version);
    world.push('c3', { '*': { app: 'v1' } });
    const began = world.now;
    world.run(DAY, () => world.release('c3').status?.finishedAt !== undefined);
    expect(states(world, 'c3')).toBe('Proven Proven Proven');
    // Three stages at 30 s of rolling out each, and nothing besides.
    expect(world.now - began).toBeLessThanOrEqual(90 * SECOND + 60 * SECOND);
    for (const name of ['test-1', 'pre-1', 'prod-1']) expect(running(world, name)).toBe('app=v1');
  });

  it('runs the gates once all the same', () => {
    const checks = [checkOf({ name: 'errors' })];
    const world = new SmallWorld({
      stages: [{ name: 'prod', soakSeconds: 3600, checks }],
      clusters: ['prod-1'],
    });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(2 * HOUR);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(MINUTE);
    world.checkResult = () => 'Failed';
    world.push('c3', { prod: { app: 'v1' } });
    world.run(MINUTE);
    expect(stage(world, 'c3', 'prod')).toMatchObject({ state: 'Failed' });
  });

  it('pre-empts a healthy soak only for what goes back to proven digests', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 7200 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'v1', base: 'v1' } });
    world.run(3 * HOUR);
    world.push('c2', { prod: { app: 'v2', base: 'v1' } });
    world.run(HOUR);
    world.push('c3', { prod: { app: 'v1', base: 'v3' } });
    world.run(HOUR);
    expect(stage(world, 'c3', 'prod').waiting?.reason).toBe('StageBusy');
    world.push('c4', { prod: { app: 'v1', base: 'v1' } });
    world.run(MINUTE);
    expect(stage(world, 'c4', 'prod').state).toBe('Proven');
    expect(stage(world, 'c2', 'prod').state).toBe('Superseded');
  });

  it('does not take the lane with a digest that failed since its proof', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 3600 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(2 * HOUR);
    world.cluster('prod-1').ill = 'Failed';
    world.run(MINUTE);
    world.cluster('prod-1').ill = 'No';
    world.push('c2', { prod: { app: 'v2' } });
    world.run(2 * HOUR);
    world.push('c3', { prod: { app: 'v1' } });
    world.run(2 * HOUR);
    expect(stage(world, 'c3', 'prod').state).toBe('Failed');
    expect(commitsOf(world, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('by unit: after bad in A, good in B, revert of A, the soak that remains is that of B', () => {
    const stages = [{ name: 'prod', soakSeconds: 3600, maxConcurrentClusters: 2 }];
    const world = new SmallWorld({ stages, clusters: ['prod-1', 'prod-2'] });
    world.push('c1', { prod: { a: 'v1', b: 'v1' } });
    world.run(2 * HOUR);
    // prod-2 shows that A is bad; prod-1 runs B well for 30 minutes.
    world.push('c2', { 'prod-1': { a: 'v2', b: 'v2' }, 'prod-2': { a: 'bad2', b: 'v2' } });
    world.run(30 * MINUTE);
    const soaking = clocksOf(world, 'prod-1');
    const bSince = soaking.find(({ unit }) => unit === 'b')?.since;
    expect(soaking.map(({ unit }) => unit)).toEqual(['a', 'b']);
    world.push('c3', { prod: { a: 'v1', b: 'v2' } });
    world.run(MINUTE);
    expect(clocksOf(world, 'prod-1')).toEqual([{ unit: 'b', digest: 'v2', since: bSince }]);
    expect(world.cluster('prod-1').status?.sync?.state).toBe('Soaking');
  });
});

describe('S34 never replaces a healthy busy stage, however often commits come', { timeout: 600_000 }, () => {
  it('advances every stage while one commit a minute comes for 24 hours', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: 3600 }));
    const world = new SmallWorld({ stages });
    world.quiet = true;
    for (let minute = 0; minute < 24 * 60; minute++) {
      world.push(`c${minute}`, { '*': { app: `v${minute}` } });
      world.run(MINUTE);
    }
    const rollout = 3600 * SECOND + 30 * SECOND + 2 * SECOND;
    for (const name of ['test-1', 'pre-1', 'prod-1']) {
      const moments = world.writes.filter(({ cluster }) => cluster === name).map(({ at }) => at);
      const gaps = moments.slice(1).map((at, index) => at - (moments[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(rollout + MINUTE);
      expect(moments.length).toBeGreaterThanOrEqual(20);
    }
    const last = world.commits.at(-1)?.id ?? '';
    proven(world, last);
  });

  it('lets a newer commit in as soon as the one before fails', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 3600 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'bad1' } });
    world.run(20 * SECOND);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(19 * SECOND);
    expect(commitsOf(world, 'prod-1')).toEqual(['c1']);
    world.run(2 * SECOND);
    expect(commitsOf(world, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('a failure within the budget starves nobody: what is newer comes after the proof', () => {
    const stages = [
      { name: 'prod', soakSeconds: 600, maxConcurrentClusters: '100%' as const, maxFailedClusters: 1 },
    ];
    const world = new SmallWorld({ stages, clusters: ['prod-1', 'prod-2', 'prod-3'] });
    world.cluster('prod-1').ill = 'Failed';
    for (let minute = 0; minute < 60; minute++) {
      world.push(`c${minute}`, { prod: { app: `v${minute}` } });
      world.run(MINUTE);
    }
    expect(commitsOf(world, 'prod-2')).toEqual(['c0', 'c10', 'c20', 'c31', 'c41', 'c52']);
    expect(commitsOf(world, 'prod-1')).toEqual(commitsOf(world, 'prod-2'));
  });

  it.each([
    ['an apply that goes on failing', 'Transient'],
    ['an apply that cannot succeed', 'Permanent'],
    ['a hold of the judge', 'Held'],
  ] as const)('%s does not keep its fix out', (_, trouble) => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 3600 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(2 * HOUR);
    world.cluster('prod-1').trouble = trouble;
    world.push('c2', { prod: { app: 'v2' } });
    world.run(30 * MINUTE);
    world.push('c3', { prod: { app: 'v3' } });
    world.settle();
    expect(world.cluster('prod-1').target).toMatchObject({ mode: 'Apply', commit: 'c3' });
  });

  it('an object that nobody gives up on does not keep the fix out for more than ten minutes', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 3600 }], clusters: ['prod-1'] });
    world.cluster('prod-1').hasDeadline = false;
    world.cluster('prod-1').ill = 'Progressing';
    world.push('c1', { prod: { app: 'v1' } });
    world.run(MINUTE);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(9 * MINUTE - SECOND);
    expect(commitsOf(world, 'prod-1')).toEqual(['c1']);
    world.run(SECOND);
    expect(commitsOf(world, 'prod-1')).toEqual(['c1', 'c2']);
  });

  it('takes the newest candidate while it has not begun', () => {
    const stages = [
      { name: 'test', soakSeconds: 0 },
      { name: 'prod', approval: 'Required' as const, soakSeconds: 0 },
    ];
    const world = new SmallWorld({ stages, clusters: ['test-1', 'prod-1'] });
    for (const id of ['c1', 'c2', 'c3']) {
      world.push(id, { '*': { app: id } });
      world.run(10 * MINUTE);
    }
    const approvals = [{ stage: 'prod', planDigest: world.release('c3').spec.plan.digest, reason: 'good' }];
    world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, approvals } };
    world.run(10 * MINUTE);
    expect(commitsOf(world, 'prod-1')).toEqual(['c3']);
    expect([states(world, 'c1'), states(world, 'c3')]).toEqual(['Proven Superseded', 'Proven Proven']);
  });
});

describe('S15 replaces a failing target at once', () => {
  it('takes the place of one that fails at any moment, at once', () => {
    for (let moment = 0; moment < 30; moment++) {
      const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 3600 }], clusters: ['prod-1'] });
      world.push('c1', { prod: { app: 'bad1' } });
      world.run(40 * SECOND + moment * 61 * SECOND);
      world.push('c2', { prod: { app: 'v2' } });
      world.settle();
      expect(world.writes.at(-1)).toMatchObject({ commit: 'c2', at: world.now });
    }
  });

  it('does not cut a healthy soak short', () => {
    const world = new SmallWorld({ stages: [{ name: 'prod', soakSeconds: 3600 }], clusters: ['prod-1'] });
    world.push('c1', { prod: { app: 'v1' } });
    world.run(10 * MINUTE);
    world.push('c2', { prod: { app: 'v2' } });
    world.run(40 * MINUTE);
    expect(world.cluster('prod-1').target?.commit).toBe('c1');
  });
});

describe('S32 promotes a commit again when it renders to something else', () => {
  it('goes through the stages in their order once more, after the soak of each', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.push('c1', { '*': { app: 'v1' } });
    proven(world, 'c1');
    upgrade(world);
    const from = world.writes.length;
    world.settle();
    expect(world.writes.slice(from).map(({ cluster }) => cluster)).toEqual(['test-1']);
    expect(world.cluster('prod-1').status?.sync).toMatchObject({
      state: 'Pending',
      message: expect.stringContaining('renders to something else') as string,
    });
    world.run(HOUR);
    const again = world.writes.slice(from);
    expect(again.map(({ cluster }) => cluster)).toEqual(['test-1', 'pre-1', 'prod-1']);
    const [test = 0, pre = 0, prod = 0] = again.map(({ at }) => at);
    expect([pre - test >= 30 * SECOND, prod - pre >= 30 * SECOND]).toEqual([true, true]);
    expect(running(world, 'prod-1')).toBe('app=v1 label=new');
  });

  it('that fails in the first stage goes no further, and lets the next commit in everywhere', () => {
    const world = new SmallWorld({ stages: STAGES });
    world.push('c1', { '*': { app: 'v1' } });
    proven(world, 'c1');
    upgrade(world);
    world.cluster('test-1').ill = 'Failed';
    world.run(HOUR);
    expect(running(world, 'prod-1')).toBe('app=v1');
    world.cluster('test-1').ill = 'No';
    world.push('c2', { '*': { app: 'v2' } });
    proven(world, 'c2');
    expect(running(world, 'prod-1')).toBe('app=v2');
  });

  it('in the middle of a stage begins nobody there, and does not keep the next commit out', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: each.name === 'prod' ? 3600 : 0 }));
    const world = new SmallWorld({ stages, clusters: ['test-1', 'pre-1', 'prod-1', 'prod-2'] });
    world.push('c1', { '*': { app: 'v1' } });
    world.run(10 * MINUTE);
    expect(world.cluster('prod-1').status?.sync?.state).toBe('Soaking');
    world.push('c2', { '*': { app: 'v2' } });
    world.settle();
    upgrade(world);
    world.run(2 * MINUTE);
    expect(commitsOf(world, 'prod-1')).toEqual(['c1', 'c2']);
    expect(commitsOf(world, 'prod-2')).toEqual([]);
    proven(world, 'c2');
  });
});
