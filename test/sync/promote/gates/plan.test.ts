import { describe, expect, it } from 'vitest';
import type { Pipeline, Stage } from '../../../../src/api/generated/types.ts';
import { judgingPipeline } from '../../../../src/sync/promote/gates/in-force.ts';
import { claimClusters } from '../../../../src/sync/promote/stage/membership.ts';
import { checkOf } from '../../../rollout/builders.ts';
import { runUntilProven, stageStates, stageStatus, writtenCommits } from '../simulation/queries.ts';
import { DAY, HOUR, MINUTE, PromotionSimulation, SECOND, stageOf } from '../simulation/simulation.ts';

const STAGES: readonly (Partial<Stage> & { readonly name: string })[] = [
  { name: 'test', soakSeconds: 60 },
  { name: 'pre', soakSeconds: 3600, approval: 'Required' },
  { name: 'prod', soakSeconds: 60 },
];

const TEST_AND_PRE: Stage['clusterSelector'] = {
  all: false,
  matchExpressions: [{ key: 'kubenode.dev/environment', operator: 'In', values: ['test', 'pre'] }],
};

/** c1 is proven everywhere under STAGES, but without approvals. */
function proven(stages = STAGES): PromotionSimulation {
  const sim = new PromotionSimulation({ stages: stages.map((each) => ({ ...each, approval: 'None' })) });
  sim.push('c1', { '*': { app: 'v1' } });
  runUntilProven(sim, 'c1');
  change(sim, { stages: stages.map(stageOf) });
  sim.run(MINUTE);
  return sim;
}

function change(sim: PromotionSimulation, spec: Partial<Pipeline['spec']>, commit?: string): void {
  const { metadata } = sim.pipeline;
  const annotations = commit === undefined ? {} : { 'kubenode.dev/commit': commit };
  sim.pipeline = {
    ...sim.pipeline,
    metadata: { ...metadata, annotations },
    spec: { ...sim.pipeline.spec, ...spec },
  };
}

const loosened = (more: Partial<Stage>): Stage[] =>
  STAGES.map((each) => stageOf({ ...each, ...(each.name === 'pre' ? more : {}) }));

describe('S36, SAF-9 judges a commit by the Pipeline in force before it', () => {
  it.each<[name: string, stages: Stage[]]>([
    ['removes the approval', loosened({ approval: 'None' })],
    ['removes the stage with the approval', loosened({}).filter(({ name }) => name !== 'pre')],
    ['renames the stage with the approval', loosened({ name: 'open', approval: 'None' })],
    [
      'moves the cluster into a stage without approval',
      [stageOf({ name: 'test', soakSeconds: 0, clusterSelector: TEST_AND_PRE }), ...loosened({}).slice(2)],
    ],
    ['takes the cluster out of all stages but the last', [stageOf({ name: 'prod', soakSeconds: 0 })]],
  ])('holds a commit that %s, and not the one after it', (_, stages) => {
    const sim = proven();
    change(sim, { stages });
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(DAY);
    expect([writtenCommits(sim, 'pre-1'), writtenCommits(sim, 'prod-1')]).toEqual([['c1'], ['c1']]);
    expect(stageStatus(sim, 'c2', 'pre').waiting?.reason).toBe('ApprovalRequired');
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(2 * DAY);
    expect(writtenCommits(sim, 'prod-1').at(-1)).toBe('c3');
    expect(sim.pipeline.status?.gates?.judging).toBeUndefined();
  });

  it('keeps the soak that a commit removes, and not for the one after it', () => {
    const stages = STAGES.map((each) => ({ ...each, approval: 'None' as const }));
    const sim = proven(stages);
    change(sim, { stages: stages.map((each) => stageOf({ ...each, soakSeconds: 0 })) });
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(59 * MINUTE);
    expect(stageStates(sim, 'c2')).toBe('Proven Soaking Waiting');
    sim.run(10 * MINUTE);
    expect(stageStates(sim, 'c2')).toBe('Proven Proven Proven');
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(5 * MINUTE);
    expect(stageStates(sim, 'c3')).toBe('Proven Proven Proven');
  });

  it('applies what a commit tightens at once', () => {
    const sim = proven(STAGES.map((each) => ({ ...each, soakSeconds: 0 })));
    change(sim, { stages: loosened({ approval: 'None' }).map((each) => ({ ...each, soakSeconds: 600 })) });
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(5 * MINUTE);
    expect(stageStatus(sim, 'c2', 'test').state).toBe('Soaking');
  });

  it('keeps the check that a commit removes, and the commit after it needs it no more', () => {
    const checks = [checkOf({ name: 'slo' })];
    const sim = proven([{ name: 'test', soakSeconds: 60, checks }, ...STAGES.slice(1)]);
    sim.checkResult = () => 'Failed';
    change(sim, { stages: STAGES.map(stageOf) });
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(10 * MINUTE);
    expect(stageStatus(sim, 'c2', 'test').state).toBe('Failed');
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(10 * MINUTE);
    expect(stageStatus(sim, 'c3', 'test').state).toBe('Proven');
  });

  it('keeps the delete budget that a commit raises for as long as it is the newest', () => {
    const sim = proven(STAGES.map((each) => ({ ...each, approval: 'None' })));
    const budget = (): object => judgingPipeline(sim.pipeline).pipeline.spec.deleteBudget;
    const before = budget();
    change(sim, { deleteBudget: { maxObjects: 9999, maxPercent: 100 } });
    expect(budget()).toEqual(before);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(DAY);
    expect([stageStates(sim, 'c2'), budget()]).toEqual(['Proven Proven Proven', before]);
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(SECOND);
    expect(budget()).toEqual({ maxObjects: 9999, maxPercent: 100 });
  });

  it('holds a commit that loosens when it arrives together with the next one', () => {
    const sim = proven();
    sim.push('c2', { '*': { app: 'v2' } });
    change(sim, { stages: loosened({ approval: 'None' }) }, 'c3');
    sim.push('c3', { '*': { app: 'v2' } });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
  });

  it('judges the revert of a loosening by both', () => {
    const sim = proven();
    change(sim, { stages: loosened({ approval: 'None' }) });
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(HOUR);
    change(sim, { stages: STAGES.map(stageOf) });
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(DAY);
    sim.push('c4', { '*': { app: 'v4' } });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
  });

  it('holds a commit whose Pipeline another Pipeline of the same repository applied before it was accepted here', () => {
    const sim = proven();
    change(sim, { stages: loosened({ approval: 'None' }) }, 'c2');
    sim.run(MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1').at(-1)).toBe('c3');
  });

  it('takes what a person loosens in the hub as in force for the next commit only', () => {
    const sim = proven();
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(HOUR);
    change(sim, { stages: loosened({ approval: 'None' }) });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
    sim.push('c3', { '*': { app: 'v3' } });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1').at(-1)).toBe('c3');
  });

  it('does not lose the cluster to another Pipeline that the commit adds', () => {
    const sim = proven();
    const taken = { ...sim.pipeline, metadata: { name: 'open' }, spec: { ...sim.pipeline.spec } };
    change(sim, { stages: loosened({}).slice(0, 1) }, 'c2');
    const owners = (): readonly (readonly string[])[] =>
      claimClusters([sim.cluster('pre-1').object()], [sim.pipeline, taken]).map(
        ({ selectedBy }) => selectedBy,
      );
    expect(owners()).toEqual([['fleet', 'open']]);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(SECOND);
    expect(owners()).toEqual([['fleet', 'open']]);
    sim.push('c3', { '*': { app: 'v2' } });
    sim.run(DAY);
    expect(owners()).toEqual([['open']]);
  });

  it('judges the first commit ever by its own Pipeline', () => {
    const sim = new PromotionSimulation({ stages: STAGES.map((each) => ({ ...each, approval: 'None' })) });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(SECOND);
    expect(sim.pipeline.status?.gates).toMatchObject({ commit: 'c1' });
    runUntilProven(sim, 'c1');
  });
});

function approvalOf(sim: PromotionSimulation, commit: string): Pipeline['spec']['approvals'] {
  return [{ stage: 'pre', planDigest: sim.release(commit).spec.plan.digest, reason: 'reviewed' }];
}

describe('S36 approves a plan by another commit than the one that brings it', () => {
  it('takes the approval of a commit that waits, in a commit that changes nothing else', () => {
    const sim = proven();
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(HOUR);
    change(sim, { approvals: approvalOf(sim, 'c2') });
    sim.push('c3', { '*': { app: 'v2' } });
    sim.run(HOUR);
    expect(writtenCommits(sim, 'pre-1').at(-1)).toBe('c3');
  });

  it('does not take the approval that a commit brings for its own plan', () => {
    const other = proven();
    other.push('c2', { '*': { app: 'v2' } });
    other.run(SECOND);
    const sim = proven();
    change(sim, { approvals: approvalOf(other, 'c2') });
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
    expect(stageStatus(sim, 'c2', 'pre').waiting?.reason).toBe('ApprovalRequired');
  });
});

describe('S36 a stage with approvalByOther', () => {
  const BY_OTHER = STAGES.map((each) => (each.name === 'pre' ? { ...each, approvalByOther: true } : each));

  /** c2 of ann waits for an approval, and the commit c3 brings it. */
  function approvedBy(...authors: readonly string[]): PromotionSimulation {
    const sim = proven(BY_OTHER);
    sim.push('c2', { '*': { app: 'v2' } }, undefined, { authors: ['ann'], approvals: [] });
    sim.run(HOUR);
    expect(stageStatus(sim, 'c2', 'pre').waiting?.message).toMatch(
      /needs an approval by another person: add plan/,
    );
    const approvals = approvalOf(sim, 'c2');
    change(sim, { approvals });
    sim.push('c3', { '*': { app: 'v2' } }, undefined, { authors, approvals });
    sim.run(HOUR);
    return sim;
  }

  it('goes on after the approval of another person, and waits after that of the author', () => {
    expect(writtenCommits(approvedBy('bob'), 'pre-1').at(-1)).toBe('c3');
    const own = approvedBy('ann');
    expect(writtenCommits(own, 'pre-1')).toEqual(['c1']);
    expect(stageStatus(own, 'c3', 'pre').waiting).toMatchObject({
      reason: 'ApprovalRequired',
      message: expect.stringMatching(
        /by another person: ann has part in commit c2 and in its approval, commit c3/,
      ) as string,
    });
  });

  it('is not opened by a commit of the author that removes the rule', () => {
    const sim = approvedBy('ann');
    change(sim, { stages: loosened({ approvalByOther: false }) });
    sim.push('c4', { '*': { app: 'v2' } }, undefined, { authors: ['ann'], approvals: approvalOf(sim, 'c2') });
    sim.run(DAY);
    expect(writtenCommits(sim, 'pre-1')).toEqual(['c1']);
  });

  it('keeps the Releases that the approval is compared with, whatever historyLimit is', () => {
    const sim = proven(BY_OTHER);
    change(sim, { historyLimit: 1 });
    sim.push('c2', { '*': { app: 'v2' } }, undefined, { authors: ['ann'], approvals: [] });
    sim.run(HOUR);
    for (const number of [3, 4, 5, 6]) {
      sim.push(`c${number}`, { '*': { app: `v${number}` } }, undefined, { authors: ['bob'], approvals: [] });
      sim.run(HOUR);
    }
    expect(sim.releases.has('fleet-c2')).toBe(true);
    const approvals = approvalOf(sim, 'c6');
    change(sim, { approvals });
    sim.push('c7', { '*': { app: 'v6' } }, undefined, { authors: ['ann'], approvals });
    sim.run(HOUR);
    expect(stageStatus(sim, 'c7', 'pre').waiting?.message).toMatch(/ann has part in commit c2/);
  });
});
