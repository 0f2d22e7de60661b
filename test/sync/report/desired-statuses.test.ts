import { describe, expect, it } from 'vitest';
import type { RefusedHead, ReleaseStatus } from '../../../src/api/generated/types.ts';
import { desiredStatuses } from '../../../src/sync/report/desired-statuses.ts';
import { condition, ended, promoting, releaseOf, reportingPipeline } from './builders.ts';

function textOf(status: Partial<ReleaseStatus>): string | undefined {
  const [only] = desiredStatuses(reportingPipeline(), [releaseOf('c1', status)]);
  return only && `${only.state}: ${only.message}`;
}

const failedClusters = ['c1', 'c2', 'c3', 'c4'].map((name) => ({ name }));

describe('S26 the status of a commit', () => {
  it.each<[name: string, status: Partial<ReleaseStatus>, text: string]>([
    ['is pending before promotion has looked at it', {}, 'Pending: accepted: 0 of 0 clusters proven'],
    ['counts the clusters of its stage', promoting(12, 40), 'Pending: stage prod: 12 of 40 clusters proven'],
    [
      'names why it waits, without the message of the fleet',
      promoting(0, 40, {
        waiting: { reason: 'WindowClosed', since: '', message: 'https://10.0.0.1 answered no' },
      }),
      'Pending: stage prod: 0 of 40 clusters proven; waits: WindowClosed',
    ],
    [
      'names three of the clusters that failed',
      promoting(3, 40, { failedClusters, clusters: { total: 40, proven: 3, failed: 30 } }),
      'Pending: stage prod: 3 of 40 clusters proven; failed: c1, c2, c3 and 27 more',
    ],
    [
      'is a failure when the failure budget is spent',
      promoting(3, 40, {
        conditions: [condition('Stalled', 'True', 'FailureBudgetSpent')],
        failedClusters: failedClusters.slice(0, 1),
      }),
      'Failed: stage prod stopped by FailureBudgetSpent: 3 of 40 clusters proven; failed: c1',
    ],
    [
      'is a failure when a person has to act',
      promoting(3, 40, { conditions: [condition('Stalled', 'True', 'PlanHeld')] }),
      'Failed: stage prod stopped by PlanHeld: 3 of 40 clusters proven',
    ],
    [
      'is a success in every stage',
      ended('Succeeded'),
      'Succeeded: proven in every stage: 4 of 4 clusters proven',
    ],
    [
      'is neither when a newer commit replaced it',
      ended('Superseded', { supersededBy: 'fleet-c2', clusters: { total: 4, proven: 1 } }),
      'Superseded: replaced by fleet-c2: 1 of 4 clusters proven',
    ],
    [
      'stays a failure when the fix replaced it',
      ended('Superseded', {
        supersededBy: 'fleet-c2',
        clusters: { total: 4, proven: 1, failed: 1 },
        failedClusters: failedClusters.slice(1, 2),
      }),
      'Failed: replaced by fleet-c2: 1 of 4 clusters proven; failed: c2',
    ],
  ])('%s', (_, status, text) => {
    expect(textOf(status)).toBe(text);
  });

  it('has one line of at most 140 characters, whatever the names are', () => {
    const long = ['a', 'b', 'c'].map((letter) => ({ name: letter.repeat(63) }));
    const [status] = desiredStatuses(reportingPipeline(), [
      releaseOf('c1', promoting(0, 40, { stage: 'a\n‮b', failedClusters: long })),
    ]);
    expect(Array.from(status?.message ?? '')).toHaveLength(140);
    expect(status?.message).toMatch(/^stage a\\n\\u202eb: .*…$/);
  });
});

describe('S26 the statuses of a Pipeline', () => {
  it('contain the heads that were refused, and are sorted newest first', () => {
    const pipeline = reportingPipeline(
      {},
      { refused: [refused('r2', 5, 'fleet.ts:3: no'), refused('r1', 1)] },
    );
    const found = desiredStatuses(pipeline, [releaseOf('c1', {}, 0), releaseOf('c2', {}, 3)]);
    expect(found.map(({ commit }) => commit)).toEqual(['r2', 'c2', 'r1', 'c1']);
    expect(found[0]).toEqual({ commit: 'r2', state: 'Failed', message: 'RenderFailed: fleet.ts:3: no' });
    expect(found[2]?.message).toBe('RenderFailed: nothing of it was applied');
  });

  it('have that of the Release for a head that was accepted later', () => {
    const pipeline = reportingPipeline({}, { refused: [refused('c1', 5)] });
    expect(desiredStatuses(pipeline, [releaseOf('c1', ended('Succeeded'))])).toMatchObject([
      { commit: 'c1', state: 'Succeeded' },
    ]);
  });

  it('are at most 128: the record in the hub has no more', () => {
    const releases = Array.from({ length: 200 }, (_, index) => releaseOf(`c${index}`, {}, index));
    const found = desiredStatuses(reportingPipeline(), releases);
    expect(found).toHaveLength(128);
    expect(found[0]?.commit).toBe('c199');
  });
});

function refused(commit: string, minute: number, message?: string): RefusedHead {
  return {
    commit,
    verdict: 'RenderFailed',
    seenAt: new Date(Date.UTC(2030, 0, 1, 11, minute)).toISOString(),
    ...(message === undefined ? {} : { message }),
  };
}
