import { describe, expect, it } from 'vitest';
import type { Stage } from '../../../src/api/generated/types.ts';
import {
  type EntryRequest,
  entryLimit,
  type StartRequest,
  startLimit,
} from '../../../src/sync/promote/limits.ts';
import {
  prodClusters,
  prodStage,
  runningContent,
  runUntilProven,
  stageStatus,
  writtenClusters,
} from './simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation, stageOf } from './simulation/simulation.ts';

const PIPELINE = new PromotionSimulation().pipeline;
const PAUSED = { ...PIPELINE, spec: { ...PIPELINE.spec, paused: true } };
const STRICT = { ...PIPELINE, spec: { ...PIPELINE.spec, unassigned: 'Fail' as const } };
const STAGE = stageOf({ name: 'prod', maxConcurrentClusters: 2, maxFailedClusters: 1 });

/** 2030-01-06 is a Sunday. */
const SUNDAY = new Date('2030-01-06T12:00:00Z');
const MONDAY = new Date('2030-01-07T12:00:00Z');
const HOURS = { name: 'work', days: ['Mon', 'Tue'] as const, start: '09:00', end: '17:00', timeZone: 'UTC' };
const WORKDAYS = { ...STAGE, windows: [HOURS] };
const STRICT_HOURS = { ...WORKDAYS, revertPasses: { windows: false, freezes: false } };
const NOWHERE = { ...STAGE, windows: [{ ...HOURS, timeZone: 'Mars/Olympus' }] };
const FREE_REVERTS = { ...STAGE, revertPasses: { windows: true, freezes: true } };
const FREEZE = { name: 'sale', from: '2030-01-05T00:00:00Z', until: '2030-01-07T00:00:00Z', reason: 'sale' };
const FROZEN = { ...PIPELINE, spec: { ...PIPELINE.spec, freezes: [FREEZE] } };

const HOLD = { policy: 'fleet', because: 'it failed in test-1, pre-1', until: MONDAY };

describe('startLimit', () => {
  const REQUEST: StartRequest = {
    pipeline: PIPELINE,
    stage: STAGE,
    unassigned: [],
    total: 10,
    busy: 0,
    failed: [],
    who: 'New',
    now: SUNDAY,
  };

  it.each<[name: string, request: Partial<StartRequest>, expected: string]>([
    ['an idle stage', {}, '2 StageFull'],
    ['a busy cluster', { busy: 1 }, '1 StageFull'],
    ['a full stage', { busy: 2 }, '0 StageFull'],
    ['an overfull stage', { busy: 3 }, '-1 StageFull'],
    ['failures within the budget', { failed: ['a'] }, '2 StageFull'],
    ['failures over the budget', { failed: ['a', 'b'] }, '0 FailureBudgetSpent'],
    ['changed content', { rerendered: 'c1' }, '0 RenderChanged'],
    ['a paused Pipeline', { pipeline: PAUSED, failed: ['a', 'b'] }, '0 Paused'],
    ['an unassigned cluster', { pipeline: STRICT, unassigned: ['x'] }, '0 ClusterUnassigned'],
    ['an unassigned cluster that is ignored', { unassigned: ['x'] }, '2 StageFull'],
    ['an open window', { stage: WORKDAYS, now: MONDAY }, '2 StageFull'],
    ['a closed window', { stage: WORKDAYS }, '0 OutsideWindow'],
    ['a closed window and a spent budget', { stage: WORKDAYS, failed: ['a', 'b'] }, '0 FailureBudgetSpent'],
    ['a revert in a closed window', { stage: WORKDAYS, who: 'Revert' }, '2 StageFull'],
    ['a revert that no window lets pass', { stage: STRICT_HOURS, who: 'Revert' }, '0 OutsideWindow'],
    ['a cluster that continues in a closed window', { stage: STRICT_HOURS, who: 'Continued' }, '2 StageFull'],
    ['a freeze', { pipeline: FROZEN }, '0 Freeze'],
    ['a freeze that is over', { pipeline: FROZEN, now: MONDAY }, '2 StageFull'],
    ['a revert during a freeze', { pipeline: FROZEN, who: 'Revert' }, '0 Freeze'],
    ['a revert that passes freezes', { pipeline: FROZEN, stage: FREE_REVERTS, who: 'Revert' }, '2 StageFull'],
    ['a cluster that continues during a freeze', { pipeline: FROZEN, who: 'Continued' }, '2 StageFull'],
    ['an unknown time zone', { stage: NOWHERE, now: MONDAY }, '0 InvalidWindow'],
    ['a commit that failed in several clusters', { hold: HOLD }, '0 FleetCause'],
    ['a revert to it', { hold: HOLD, who: 'Revert' }, '2 StageFull'],
    ['a cluster that continues with it', { hold: HOLD, who: 'Continued' }, '2 StageFull'],
  ])('decides with %s: %s', (_, request, expected) => {
    const { slots, reason } = startLimit({ ...REQUEST, ...request });
    expect(`${slots} ${reason}`).toBe(expected);
  });

  it('names at most 20 clusters', () => {
    const failed = prodClusters(25);
    expect(startLimit({ ...REQUEST, failed }).because).toBe(
      `clusters failed in prod: 25, allowed: 1 (${failed.slice(0, 20).join(', ')})`,
    );
  });
});

describe('entryLimit', () => {
  const REQUEST = {
    pipeline: PIPELINE,
    stage: STAGE,
    planDigest: 'p1',
    unassigned: [],
    changes: 3,
    unexercised: 0,
    isRevert: false,
    now: SUNDAY,
  };
  const stageWith = (approval: Stage['approval']): Stage => ({ ...STAGE, approval });
  const BY_OTHER: Stage = { ...stageWith('Required'), approvalByOther: true };
  const approvals = [{ stage: 'prod', planDigest: 'p1', reason: 'reviewed' }];
  const APPROVED = { ...PIPELINE, spec: { ...PIPELINE.spec, approvals } };

  it.each<[name: string, request: Partial<EntryRequest>, expected: string]>([
    ['no approval needed', {}, 'Unlimited'],
    ['a paused Pipeline', { pipeline: PAUSED }, 'Paused'],
    ['an approval for every change', { stage: stageWith('Required') }, 'ApprovalRequired'],
    ['an approval but no change', { stage: stageWith('Required'), changes: 0 }, 'Unlimited'],
    ['an approval of this plan', { stage: stageWith('Required'), pipeline: APPROVED }, 'Unlimited'],
    [
      'an approval of another plan',
      { stage: stageWith('Required'), pipeline: APPROVED, planDigest: 'p2' },
      'ApprovalRequired',
    ],
    [
      'an approval of the author himself',
      { stage: BY_OTHER, pipeline: APPROVED, approverProblem: 'ann wrote it' },
      'ApprovalRequired',
    ],
    ['an approval of another person', { stage: BY_OTHER, pipeline: APPROVED }, 'Unlimited'],
    [
      'an approval of anybody',
      { stage: stageWith('Required'), pipeline: APPROVED, approverProblem: 'ann wrote it' },
      'Unlimited',
    ],
    ['exercised changes only', { stage: stageWith('Unexercised') }, 'Unlimited'],
    ['an unexercised change', { stage: stageWith('Unexercised'), unexercised: 1 }, 'ApprovalRequired'],
    ['a closed window', { stage: WORKDAYS }, 'OutsideWindow'],
    ['a closed window and no change', { stage: WORKDAYS, changes: 0 }, 'Unlimited'],
    ['a revert in a closed window', { stage: WORKDAYS, isRevert: true }, 'Unlimited'],
    ['a freeze', { pipeline: FROZEN }, 'Freeze'],
    ['a freeze and a closed window', { pipeline: FROZEN, stage: WORKDAYS, isRevert: true }, 'Freeze'],
    ['a commit that failed in several clusters', { hold: HOLD }, 'FleetCause'],
    ['a revert to such a commit', { hold: HOLD, isRevert: true }, 'Unlimited'],
    ['such a commit and no change', { hold: HOLD, changes: 0 }, 'Unlimited'],
  ])('decides with %s: %s', (_, request, expected) => {
    expect(entryLimit({ ...REQUEST, ...request }).reason).toBe(expected);
  });

  it('S40 lets an approval lapse with the plan that was approved, and names the new one', () => {
    const request = { ...REQUEST, stage: stageWith('Required'), pipeline: APPROVED };
    expect(entryLimit(request).slots).toBe(Infinity);
    const { slots, because } = entryLimit({ ...request, planDigest: 'p2' });
    expect([slots, because]).toEqual([0, expect.stringContaining('add plan p2 to spec.approvals')]);
  });
});

const STAGES = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 600 },
  { name: 'prod', soakSeconds: 3600 },
];

describe('S35 starts no further cluster when the failure budget is spent', () => {
  it('stops 100 clusters with a budget of 2 at the third failure', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 4, maxFailedClusters: 2, soakSeconds: 60 }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(100) });
    const bad = Object.fromEntries(
      ['prod-003', 'prod-007', 'prod-011', 'prod-040'].map((name) => [name, { app: 'bad1' }]),
    );
    sim.push('c1', { prod: { app: 'v1' }, ...bad });
    sim.run(12 * HOUR);
    expect(prodStage(sim, 'c1').state).toBe('Failed');
    // The third failure is prod-011; at most three more clusters were busy then.
    expect(writtenClusters(sim, 'c1').length).toBeLessThanOrEqual(14);
    expect(
      sim.release('c1').status?.failedClusters?.map(({ name, reason, stage }) => [name, reason, stage]),
    ).toEqual([
      ['prod-003', 'ProgressDeadlineExceeded', 'prod'],
      ['prod-007', 'ProgressDeadlineExceeded', 'prod'],
      ['prod-011', 'ProgressDeadlineExceeded', 'prod'],
    ]);
    expect(sim.release('c1').status?.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'FailureBudgetSpent',
      message: 'clusters failed in prod: 3, allowed: 2 (prod-003, prod-007, prod-011)',
    });
    expect(sim.release('c1').status?.phase).toBe('Failed');
  });

  it('lets started clusters finish', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 600 }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(3) });
    sim.push('c1', { prod: { app: 'v1' }, 'prod-001': { app: 'bad1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Proven');
    expect(writtenClusters(sim, 'c1')).toEqual(['prod-001', 'prod-002']);
  });

  it('does not start a held plan after the budget is spent', () => {
    const stages = [{ name: 'prod', maxConcurrentClusters: 2 }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(2) });
    sim.cluster('prod-001').trouble = 'Held';
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    sim.cluster('prod-001').trouble = 'None';
    sim.run(10 * MINUTE);
    expect(writtenClusters(sim, 'c1')).toEqual(['prod-002']);
  });

  it('counts the failure of a cluster that became unreachable', () => {
    const stages = [{ name: 'prod', unreachable: { graceSeconds: 60, maxSkipped: 3 } }];
    const sim = new PromotionSimulation({ stages, clusters: prodClusters(3) });
    sim.push('c1', { prod: { app: 'bad1' } });
    sim.run(10 * MINUTE);
    sim.cluster('prod-001').reachable = false;
    sim.run(HOUR);
    expect(writtenClusters(sim, 'c1')).toEqual(['prod-001']);
  });
});

describe('the limits of promotion', () => {
  it('writes nothing while the Pipeline is paused, and continues afterwards', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: prodClusters(2),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(10 * MINUTE);
    const pause = (paused: boolean): void => {
      sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, paused } };
    };
    pause(true);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(HOUR);
    expect(writtenClusters(sim, 'c2')).toEqual([]);
    expect(prodStage(sim, 'c2').waiting?.reason).toBe('Paused');
    expect(sim.pipeline.status?.phase).toBe('Paused');
    expect([...sim.clusters.values()].map(({ target }) => target?.mode)).toEqual(['Observe', 'Observe']);
    pause(false);
    sim.run(HOUR);
    expect(prodStage(sim, 'c2').state).toBe('Proven');
  });

  it.each([
    ['Ignore', ['prod-001']],
    ['Fail', []],
  ] as const)('with unassigned %s and a cluster of no stage starts %j', (unassigned, started) => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod' }],
      clusters: ['prod-001', 'test-1'],
      pipeline: { unassigned },
    });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(HOUR);
    expect(writtenClusters(sim, 'c1')).toEqual(started);
    expect(sim.pipeline.status?.clusters?.unassigned).toBe(1);
    expect(sim.cluster('test-1').target?.mode).toBe('Observe');
  });
});

describe('S32 asks for an approval of what no earlier stage exercised', () => {
  it('counts unexercised changes in the plan, and waits for an approval', () => {
    const stages = STAGES.map((each) => ({ ...each, soakSeconds: 0, approval: 'Unexercised' as const }));
    const sim = new PromotionSimulation({ stages });
    sim.push('c1', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c1');
    expect(sim.release('c1').spec.plan.unexercised).toBe(0);
    sim.push('c2', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    sim.run(HOUR);
    const { plan } = sim.release('c2').spec;
    expect(plan).toMatchObject({ clusters: 3, changed: 1, unexercised: 1 });
    expect(stageStatus(sim, 'c2', 'prod')).toMatchObject({
      state: 'Waiting',
      waiting: { reason: 'ApprovalRequired' },
    });
    // The approval is a commit that changes no cluster, so its plan digest is the same.
    const approvals = [{ stage: 'prod', planDigest: plan.digest, reason: 'reviewed' }];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, approvals } };
    sim.push('c3', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    sim.run(HOUR);
    expect(runningContent(sim, 'prod-1')).toBe('app=v2');
    expect(stageStatus(sim, 'c3', 'prod').state).toBe('Proven');
  });

  it.each([
    ['None', 'v2', 'Proven'],
    ['Unexercised', 'v2', 'Proven'],
    ['Required', 'v2', 'Waiting'],
    ['Required', 'v1', 'Proven'],
  ] as const)('with approval %s and version %s in prod is %s', (approval, version, state) => {
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
    runUntilProven(sim, 'c1');
    sim.push('c2', { '*': { app: version } });
    sim.run(HOUR);
    expect(stageStatus(sim, 'c2', 'prod').state).toBe(state);
  });
});
