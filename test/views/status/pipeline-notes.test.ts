import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import {
  earlierGatesNote,
  keptObjectNotes,
  pipelineNotes,
} from '../../../src/views/status/pipeline-notes.ts';
import { COMMIT, cluster, OLD_COMMIT, pipeline } from '../../cli/commands/builders.ts';

const SINCE = '2030-01-01T00:00:00Z';
const HEAD = { commit: COMMIT, verdict: 'Accepted' };
const BY_GIT = { annotations: { 'kubenode.dev/commit': COMMIT } };
const BY_HAND = {
  annotations: {},
  managedFields: ['kubectl-create', 'kubenode-sync', 'kubenode-cli'].map((manager) => ({ manager })),
};

function pipelineOf(status: object, metadata: object): Pipeline {
  const made = pipeline(status);
  return { ...made, metadata: { ...made.metadata, ...metadata } };
}

describe('pipelineNotes', () => {
  it.each<[name: string, status: object, metadata: object, expected: readonly string[]]>([
    ['tells nothing of a Pipeline that git sets', { head: HEAD }, BY_GIT, []],
    [
      'tells that the gates before a commit apply to it',
      { head: HEAD, gates: { judging: { commits: [COMMIT] } } },
      BY_GIT,
      ['earlier gates apply to commit aaaaaaaaaaaa: what it loosens counts from the next commit'],
    ],
    [
      'names every commit that earlier gates apply to',
      { head: HEAD, gates: { judging: { commits: [COMMIT, OLD_COMMIT] } } },
      BY_GIT,
      [
        'earlier gates apply to commits aaaaaaaaaaaa, bbbbbbbbbbbb: what they loosen counts from the next commit',
      ],
    ],
    [
      'tells that git does not set a Pipeline that another manager created',
      { head: HEAD },
      BY_HAND,
      [
        'git does not set it (field managers: kubectl-create): a commit changes none of its stages and gates. Declare Pipeline fleet in the fleet repository',
      ],
    ],
    [
      'leaves it to the conflict of fields if git declares a Pipeline that another manager created',
      { head: HEAD, conditions: [{ type: 'Stalled', status: 'True', reason: 'FieldConflict' }] },
      BY_HAND,
      [],
    ],
    [
      'names the command for deletes that are held in the hub',
      { head: HEAD, conditions: [{ type: 'Held', status: 'True', reason: 'DeletesHeld' }] },
      BY_GIT,
      [
        'deletes of objects of the hub wait for a commit: kubenode release acknowledge hub --reason TEXT prints what to commit',
      ],
    ],
    [
      'names no command of the hub for deletes that are held in a cluster',
      { head: HEAD, conditions: [{ type: 'Held', status: 'True', reason: 'PlanHeld' }] },
      BY_GIT,
      [],
    ],
    [
      'names no command for deletes in the hub that were released',
      { head: HEAD, conditions: [{ type: 'Held', status: 'False', reason: 'DeletesHeld' }] },
      BY_GIT,
      [],
    ],
    [
      'tells why a webhook is not received',
      {
        head: HEAD,
        conditions: [
          { type: 'WebhookReady', status: 'False', lastTransitionTime: SINCE, message: 'no port' },
        ],
      },
      BY_GIT,
      ['webhook not received since 2030-01-01T00:00:00Z: no port'],
    ],
    [
      'tells nothing of a webhook that is received',
      { head: HEAD, conditions: [{ type: 'WebhookReady', status: 'True', message: 'received' }] },
      BY_GIT,
      [],
    ],
    [
      'tells why the git host does not get commit statuses',
      {
        head: HEAD,
        conditions: [
          { type: 'CommitStatusReady', status: 'Unknown', lastTransitionTime: SINCE, message: 'it limits' },
        ],
      },
      BY_GIT,
      ['commit statuses not sent since 2030-01-01T00:00:00Z: it limits'],
    ],
    [
      'tells nothing of commit statuses that the git host accepts',
      { head: HEAD, conditions: [{ type: 'CommitStatusReady', status: 'True', message: 'accepted' }] },
      BY_GIT,
      [],
    ],
    [
      'tells why pull requests have no plan',
      {
        head: HEAD,
        conditions: [
          { type: 'PlanCommentsReady', status: 'False', lastTransitionTime: SINCE, message: 'no right' },
        ],
      },
      BY_GIT,
      ['pull requests not planned since 2030-01-01T00:00:00Z: no right'],
    ],
    [
      'tells nothing of plans that the git host accepts',
      { head: HEAD, conditions: [{ type: 'PlanCommentsReady', status: 'True', message: 'accepted' }] },
      BY_GIT,
      [],
    ],
    [
      'tells which pull request takes a failing commit back',
      {
        head: HEAD,
        conditions: [
          { type: 'RevertReady', status: 'True', reason: 'RevertProposed', message: 'merge pull request 7' },
        ],
      },
      BY_GIT,
      ['merge pull request 7'],
    ],
    [
      'tells why no revert was made',
      {
        head: HEAD,
        conditions: [
          { type: 'RevertReady', status: 'False', lastTransitionTime: SINCE, message: 'it conflicts' },
        ],
      },
      BY_GIT,
      ['no revert was made since 2030-01-01T00:00:00Z: it conflicts'],
    ],
    [
      'tells nothing of reverts while no stage has failed',
      {
        head: HEAD,
        conditions: [{ type: 'RevertReady', status: 'True', reason: 'NoFailedStage', message: 'none' }],
      },
      BY_GIT,
      [],
    ],
    ['does not know who sets it before a commit was accepted', {}, BY_HAND, []],
    [
      'does not know who sets it while the head is refused',
      { head: { ...HEAD, verdict: 'Refused' } },
      BY_HAND,
      [],
    ],
  ])('%s', (_, status, metadata, expected) => {
    expect(pipelineNotes(pipelineOf(status, metadata))).toEqual(expected);
  });
});

describe('earlierGatesNote', () => {
  it('is about the commits that are judged by earlier gates only', () => {
    const judged = pipeline({ gates: { judging: { commits: [COMMIT] } } });
    expect(earlierGatesNote(judged, COMMIT)).toMatch(/counts from the next commit$/);
    expect(earlierGatesNote(judged, OLD_COMMIT)).toBeUndefined();
    expect(earlierGatesNote(pipeline({}), COMMIT)).toBeUndefined();
  });
});

function kept(name: string): object {
  return {
    object: `ConfigMap default/${name}`,
    reason: 'ForeignFinalizer',
    message: 'being deleted since 2030-01-01T00:00:00Z, finalizers x/y',
  };
}

describe('keptObjectNotes', () => {
  it('SAF-2 names the objects that finalizers of others keep, and who has to remove them', () => {
    const failures = [kept('a'), { object: 'ConfigMap default/b', reason: 'Invalid', message: 'rejected' }];
    expect(keptObjectNotes(cluster({ failures }))).toEqual([
      'Cluster prod: removed from git, and not deleted yet: ConfigMap default/a being deleted since 2030-01-01T00:00:00Z, finalizers x/y. No commit waits for that: their controllers, or a person, have to remove the finalizers',
    ]);
  });

  it('counts the objects beyond the first three', () => {
    const failures = ['a', 'b', 'c', 'd', 'e'].map(kept);
    expect(keptObjectNotes(cluster({ failures })).join('')).toContain(
      'finalizers x/y; and 2 more. No commit',
    );
  });

  it('is silent when there are none', () => {
    expect(keptObjectNotes(cluster({}))).toEqual([]);
  });
});
