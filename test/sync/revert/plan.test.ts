import { describe, expect, it } from 'vitest';
import type { PipelineRevert } from '../../../src/api/generated/types.ts';
import {
  nextRevertStep,
  type ObservedRevert,
  planRevert,
  type RevertInput,
  type RevertPlan,
  recordAfter,
  stageFailures,
} from '../../../src/sync/revert/plan.ts';
import {
  FAILED,
  type FailedStage,
  failedRelease,
  HEAD,
  PROVEN,
  pipelineWith,
  REVERT,
  recordOf,
} from './builders.ts';

const OTHER = 'e'.repeat(40);

interface Given {
  readonly stages?: readonly FailedStage[];
  readonly reverts?: readonly PipelineRevert[];
  readonly spec?: object;
  readonly more?: Partial<RevertInput>;
}

function plan({ stages = [{}], reverts = [], spec = {}, more = {} }: Given): string {
  const found = planRevert({
    pipeline: pipelineWith(stages, { status: { reverts: [...reverts] }, spec }),
    releases: stages.map(failedRelease),
    head: HEAD,
    refused: new Set(),
    ...more,
  });
  return explain(found);
}

function explain(found: RevertPlan): string {
  if (found.type === 'None') return 'none';
  if (found.type === 'Wait') return `wait: ${found.because}`;
  if (found.type === 'Continue') return `continue ${found.record.commit.slice(0, 1)}`;
  const { failure, onto } = found;
  return `make ${failure.stage} ${failure.commit.slice(0, 1)} onto ${onto.slice(0, 1)}`;
}

const HALT = { by: 'anna', reason: 'ticket 7', since: '2030-01-01T12:00:00Z' };
const BOTH = [{ name: 'test', commit: OTHER }, { name: 'prod' }];

describe('planRevert', () => {
  it.each<[string, Given, string]>([
    ['makes one of a commit that failed', {}, 'make prod b onto c'],
    ['makes none while the stage has not failed', { stages: [{ state: 'Promoting' }] }, 'none'],
    ['makes none once a newer commit has replaced it', { stages: [{ supersededBy: 'fleet-x' }] }, 'none'],
    ['makes none without a Release of the stage', { more: { releases: [] } }, 'none'],
    ['makes none while the newest accepted commit is unknown', { more: { head: undefined } }, 'none'],
    ['makes none of a refused commit', { more: { refused: new Set([FAILED]) } }, 'none'],
    ['continues one that may be pushed already', { reverts: [recordOf()] }, 'continue b'],
    ['continues without a head', { reverts: [recordOf()], more: { head: undefined } }, 'continue b'],
    [
      'does not continue one of a commit that was replaced',
      { stages: [{ supersededBy: 'x' }], reverts: [recordOf()] },
      'none',
    ],
    ['respects one that was proposed', { reverts: [recordOf({ state: 'Proposed' })] }, 'none'],
    ['respects one that was pushed', { reverts: [recordOf({ state: 'Pushed' })] }, 'none'],
    [
      'makes one of another commit',
      { reverts: [recordOf({ commit: OTHER, state: 'Pushed' })] },
      'make prod b onto c',
    ],
    ['answers the stages in their order', { stages: BOTH }, 'make test e onto c'],
    [
      'answers the next stage after the first',
      { stages: BOTH, reverts: [recordOf({ commit: OTHER, state: 'Proposed' })] },
      'make prod b onto c',
    ],
    [
      'answers the next stage if the first is refused',
      { stages: BOTH, more: { refused: new Set([OTHER]) } },
      'make prod b onto c',
    ],
    [
      'pushes nothing while a person halts',
      { spec: { halt: HALT } },
      'wait: pipeline fleet was halted by anna: ticket 7. To continue, run: kubenode release resume fleet',
    ],
    [
      'continues nothing while git pauses',
      { spec: { paused: true }, reverts: [recordOf()] },
      'wait: pipeline fleet is paused (spec.paused)',
    ],
    ['waits for nothing without a failed stage', { spec: { paused: true }, stages: [] }, 'none'],
  ])('S35 plans the next revert: %s', (_, given, expected) => {
    expect(plan(given)).toBe(expected);
  });
});

describe('stageFailures', () => {
  it('S35 names the clusters of the stage and the commit that it has proven', () => {
    expect(stageFailures(pipelineWith([{}]), [failedRelease()])).toEqual([
      {
        stage: 'prod',
        release: 'fleet-bbbbbbbbbbbb',
        commit: FAILED,
        subject: 'Update web to 2.0',
        proven: PROVEN,
        clusters: [expect.objectContaining({ name: 'prod-1' })],
      },
    ]);
  });

  it('S35 counts a commit that failed in two stages once', () => {
    const release = failedRelease();
    const stages = [
      { name: 'test', state: 'Failed' },
      { name: 'prod', state: 'Failed' },
    ];
    const both = { ...release, status: { ...release.status, conditions: [], stages } } as typeof release;
    const found = stageFailures(pipelineWith([{ name: 'test' }, { name: 'prod' }]), [both]);
    expect(found.map(({ stage }) => stage)).toEqual(['test']);
  });
});

const SEEN: ObservedRevert = { tracked: FAILED, isMerged: false, branch: undefined, pull: undefined };
const PULL = { number: 7, url: 'https://git.example.com/7' };
const PUSH = { how: 'Push' } as const;

describe('nextRevertStep', () => {
  it.each<[string, Partial<PipelineRevert>, Partial<ObservedRevert>, string]>([
    ['pushes to the head that failed', PUSH, {}, 'PushTracked'],
    ['has pushed if the ref has the commit', PUSH, { tracked: REVERT }, 'Pushed'],
    ['has pushed if others pushed on top of it', PUSH, { tracked: OTHER, isMerged: true }, 'Pushed'],
    ['proposes instead if the ref has moved', PUSH, { tracked: OTHER }, 'ProposeInstead'],
    ['proposes instead if the ref was deleted', PUSH, { tracked: undefined }, 'ProposeInstead'],
    ['pushes a branch first', {}, {}, 'PushBranch'],
    ['creates the pull request of the branch', {}, { branch: REVERT }, 'CreatePull'],
    ['proposes also if the ref has moved', {}, { tracked: OTHER }, 'PushBranch'],
    ['has proposed if there is a pull request', {}, { branch: REVERT, pull: PULL }, 'Proposed'],
    ['has proposed if the branch was deleted', {}, { pull: PULL }, 'Proposed'],
    ['has proposed if a person changed the branch', {}, { branch: OTHER, pull: PULL }, 'Proposed'],
    [
      'is done if a person merged the branch without a pull request',
      {},
      { tracked: OTHER, isMerged: true },
      'Pushed',
    ],
    ['leaves a branch of others alone', {}, { branch: OTHER }, 'BranchTaken'],
  ])('S35 plans the next step: %s', (_, record, seen, expected) => {
    expect(nextRevertStep(recordOf(record), { ...SEEN, ...seen }).type).toBe(expected);
  });

  it('S35 explains what a person has to know', () => {
    expect(nextRevertStep(recordOf(), { ...SEEN, branch: OTHER })).toMatchObject({
      because: `branch kubenode/revert/fleet/prod/bbbbbbbbbbbb has the commit ${OTHER}, which sync has not made: delete the branch, or create a pull request from it`,
    });
    expect(nextRevertStep(recordOf(PUSH), { ...SEEN, tracked: OTHER })).toMatchObject({
      because: `not pushed to the ref: the ref has moved to ${OTHER}`,
    });
  });
});

describe('recordAfter', () => {
  it('S35 records what was found, and nothing that is still to do', () => {
    expect(recordAfter(recordOf(), { type: 'Pushed' })).toEqual(recordOf({ state: 'Pushed' }));
    expect(recordAfter(recordOf(), { type: 'Proposed', pull: PULL })).toEqual(
      recordOf({ state: 'Proposed', pullRequest: 7, url: PULL.url }),
    );
    expect(recordAfter(recordOf(PUSH), { type: 'ProposeInstead', because: 'moved' })).toEqual(
      recordOf({ how: 'Propose', note: 'moved' }),
    );
    for (const type of ['PushTracked', 'PushBranch', 'CreatePull'] as const) {
      expect(recordAfter(recordOf(), { type })).toBeUndefined();
    }
  });
});
