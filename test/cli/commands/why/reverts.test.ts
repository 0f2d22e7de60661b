import { describe, expect, it } from 'vitest';
import {
  explainReverts,
  formatReverts,
  type RevertedCommit,
} from '../../../../src/cli/commands/why/reverts.ts';
import type { Condition } from '../../../../src/kube/objects/conditions.ts';
import {
  FAILED,
  failedRelease,
  PROVEN,
  pipelineWith,
  REVERT,
  recordOf,
} from '../../../sync/revert/builders.ts';

type Given = Partial<Parameters<typeof recordOf>[0]>;

const PULL = { pullRequest: 7, url: 'https://git.example.com/acme/fleet/pull/7' };
const ready = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'RevertReady',
  status,
  reason,
  message,
  lastTransitionTime: '2030-01-01T12:00:00Z',
});

/** A Pipeline that has answered the failed commit with this record. */
function answeredBy(record: Given, conditions: readonly Condition[] = []): RevertedCommit {
  const status = { reverts: [recordOf(record)], stages: [{ name: 'prod', commit: PROVEN }], conditions };
  return { commit: FAILED, pipelines: [pipelineWith([{}], { status })], releases: [failedRelease()] };
}

function unanswered(spec: object, conditions: readonly Condition[] = []): RevertedCommit {
  const pipelines = [
    pipelineWith([{}], { spec, status: { stages: [{ name: 'prod', commit: PROVEN }], conditions } }),
  ];
  return { commit: FAILED, pipelines, releases: [failedRelease()] };
}

function shown(question: RevertedCommit): string {
  return formatReverts(explainReverts(question), 1000).replaceAll(/ {2,}/g, ' ');
}

const FAILURE = 'the failure budget of stage prod is spent (prod-1 Unhealthy)';

describe('S35 why a commit that failed is reverted, or is not', () => {
  it.each<[name: string, question: RevertedCommit, text: string]>([
    [
      'names the pull request, and asks a person to merge it',
      answeredBy({ state: 'Proposed', ...PULL }),
      ` revert RevertProposed: ${FAILURE}: sync proposes its revert dddddddddddd as pull request 7 (${PULL.url}), which goes back to aaaaaaaaaaaa\n unblocks merge it, or push a commit that fixes stage prod\n`,
    ],
    [
      'has what a person must know before the merge',
      answeredBy({ state: 'Proposed', note: 'sign it first' }),
      ` revert RevertProposed: ${FAILURE}: sync proposes its revert dddddddddddd as pull request of branch kubenode/revert/fleet/prod/bbbbbbbbbbbb, which goes back to aaaaaaaaaaaa. Note: sign it first\n unblocks merge it, or push a commit that fixes stage prod\n`,
    ],
    [
      'asks for nothing after a push',
      answeredBy({ state: 'Pushed', how: 'Push' }),
      ` revert RevertPushed: ${FAILURE}: sync has pushed its revert dddddddddddd, which goes back to aaaaaaaaaaaa\n unblocks no action required: kubenode release list shows the revert\n`,
    ],
    [
      'waits for sync while one is pushed',
      answeredBy({ how: 'Push' }),
      ` revert RevertPlanned: ${FAILURE}: sync pushes its revert dddddddddddd to the tracked ref, which goes back to aaaaaaaaaaaa\n unblocks no action required while kubenode sync runs\n`,
    ],
    [
      'has the hint of the host that does not take it',
      answeredBy({}, [ready('False', 'Forbidden', 'the token may not push: permit it')]),
      ` revert RevertPlanned: ${FAILURE}: sync pushes its revert dddddddddddd to branch kubenode/revert/fleet/prod/bbbbbbbbbbbb, which goes back to aaaaaaaaaaaa\n unblocks the token may not push: permit it\n`,
    ],
    [
      'asks for a commit where the Pipeline wants no reverts',
      unanswered({ onFailure: 'Stop' }),
      ` revert Stop: ${FAILURE}: sync reverts nothing, because onFailure of Pipeline fleet is Stop\n unblocks push a commit that fixes stage prod, or revert it: git revert --no-commit ${PROVEN}..${FAILED}\n`,
    ],
    [
      'has the reason why no revert was made',
      unanswered({}, [ready('False', 'Conflict', 'later commits changed a.ts. Revert the range yourself')]),
      ` revert Conflict: ${FAILURE}: no revert was made: later commits changed a.ts. Revert the range yourself\n unblocks do what the message asks for\n`,
    ],
    [
      'asks for nothing where the head has the proven files',
      unanswered({}, [ready('True', 'AlreadyReverted', 'nothing is left to revert')]),
      ` revert AlreadyReverted: ${FAILURE}: no revert is needed: nothing is left to revert\n`,
    ],
    [
      'does not take the answer to another commit for that to this one',
      unanswered({}, [ready('True', 'RevertProposed', 'cccc failed in stage test: merge pull request 1')]),
      ` revert NotAnsweredYet: ${FAILURE}: sync has not answered it yet\n unblocks no action required while kubenode sync runs\n`,
    ],
    [
      'tells of a revert which commit it takes back',
      { ...answeredBy({ state: 'Pushed' }), commit: REVERT },
      ` revert MadeBySync: sync made this commit: ${FAILURE}; it goes back to aaaaaaaaaaaa, which stage prod had proven\n`,
    ],
    ['is silent about a commit that has not failed', { ...unanswered({}), commit: PROVEN }, ''],
  ])('%s', (_, question, text) => {
    expect(shown(question)).toBe(text);
  });

  it.each<[name: string, releases: RevertedCommit['releases'], text: string]>([
    [
      'a newer Release has replaced it',
      [failedRelease({ supersededBy: 'fleet-new' })],
      'no action required: Release fleet-new has replaced it',
    ],
    [
      'its Release was removed',
      [],
      'no action required: newer commits have followed, and the hub keeps no Release of it',
    ],
  ])('S35 asks for no merge of a revert when %s', (_, releases, text) => {
    const [only] = explainReverts({ ...answeredBy({ state: 'Proposed', ...PULL }), releases });
    expect(only?.unblock).toBe(text);
  });

  it('S35 keeps the commits of other Pipelines apart', () => {
    const question = answeredBy({ state: 'Pushed' });
    const other = { ...failedRelease(), spec: { ...failedRelease().spec, pipeline: 'other' } };
    expect(explainReverts({ ...question, releases: [other] })[0]?.unblock).toContain(
      'keeps no Release of it',
    );
  });
});
