import { describe, expect, it } from 'vitest';
import type { CommitRun, RefusedHead } from '../../../src/api/generated/types.ts';
import {
  type ClusterHistory,
  historyOf,
  historyRows,
  refusalsFor,
} from '../../../src/views/release/history.ts';
import { cluster, pipeline } from '../../cli/commands/builders.ts';

/** `run('c1', 1, 5)`: from minute 1 to minute 5; without an end it runs. */
function run(commit: string, from: number, until?: number, more: Partial<CommitRun> = {}): CommitRun {
  return {
    commit,
    state: 'Proven',
    pipeline: 'fleet',
    author: 'Ann',
    subject: `shop ${commit}`,
    startedAt: minute(from),
    ...(until === undefined ? {} : { endedAt: minute(until) }),
    ...more,
  };
}

function minute(at: number): string {
  return new Date(Date.UTC(2030, 0, 1, 12, at)).toISOString();
}

function ran(name: string, ...history: readonly CommitRun[]): ClusterHistory {
  return { cluster: name, history };
}

function minuteOf(time = '              -'): string {
  return time.slice(14, 16);
}

function shown(histories: readonly ClusterHistory[], refused: readonly RefusedHead[] = []): string[] {
  return historyRows(histories, refused).map(({ commit, state, clusters, from, until, note }) =>
    [commit, state, clusters, `${minuteOf(from)}-${until === 'now' ? until : minuteOf(until)}`, note].join(
      ' | ',
    ),
  );
}

const FAILED = { state: 'Failed', reason: 'ProbeFailed', message: 'greets answered 500' } as const;

describe('historyRows', () => {
  it.each<[name: string, histories: readonly ClusterHistory[], rows: readonly string[]]>([
    ['is empty without a run', [ran('prod')], []],
    [
      'keeps the commit before a revert, and gives the revert its own time',
      [ran('prod', run('c3', 9, undefined, { sameContentAs: 'c1' }), run('c2', 5, 9), run('c1', 1, 5))],
      [
        'c3 | Proven | prod | 09-now | same content as c1',
        'c2 | Proven | prod | 05-09 | ',
        'c1 | Proven | prod | 01-05 | ',
      ],
    ],
    [
      'shows a failed commit with its reason',
      [ran('prod', run('c2', 5, undefined, FAILED))],
      ['c2 | Failed | prod | 05-now | greets answered 500'],
    ],
    [
      'shows a commit without a result as replaced',
      [ran('prod', run('c2', 5), run('c1', 1, 5, { state: 'Soaking' }))],
      ['c2 | Proven | prod | 05-now | ', 'c1 | Replaced | prod | 01-05 | replaced while Soaking'],
    ],
    [
      'shows content that was assigned again for the same commit as a row of its own',
      [ran('prod', run('c1', 5), run('c1', 1, 5))],
      ['c1 | Proven | prod | 05-now | ', 'c1 | Proven | prod | 01-05 | '],
    ],
    [
      'shows what the hub did not record, and what people decided',
      [ran('prod', run('c1', 5, undefined, { adopted: true, decisions: ['head accepted by alice'] }))],
      [
        'c1 | Proven | prod | 05-now | found in the cluster, not assigned by this hub: commits before it may be missing; head accepted by alice',
      ],
    ],
    [
      'has one row for each commit of a fleet, with the worst state and the clusters of each',
      [
        ran('test', run('c2', 5, undefined, FAILED), run('c1', 1, 5)),
        ran('pre', run('c2', 6, undefined, { sameContentAs: 'c1' }), run('c1', 2, 6)),
        ran('prod', run('c1', 3)),
      ],
      [
        'c2 | Failed | test Failed; pre Proven | 05-now | test: greets answered 500; pre: same content as c1',
        'c1 | Proven | test, pre and prod | 01-now | ',
      ],
    ],
    [
      'has a row for each time that a commit ran in a fleet, and each cluster once in it',
      [
        ran('test', run('c1', 9), run('c2', 5, 9), run('c1', 1, 5)),
        ran('prod', run('c2', 6), run('c1', 2, 6)),
      ],
      [
        'c1 | Proven | test | 09-now | ',
        'c2 | Proven | test and prod | 05-now | ',
        'c1 | Proven | test and prod | 01-06 | ',
      ],
    ],
    [
      'counts the clusters beyond the first eight',
      'a b c d e f g h i j'.split(' ').map((name) => ran(name, run('c1', 1))),
      ['c1 | Proven | a, b, c, d, e, f, g, h and 2 more | 01-now | '],
    ],
  ])('%s', (_, histories, rows) => {
    expect(shown(histories)).toEqual(rows);
  });

  it('lists a refused head between the commits that ran, with the first line of its reason', () => {
    const refused: RefusedHead = {
      commit: 'c2',
      verdict: 'RenderFailed',
      message: 'fleet/main.ts:3: x is not defined\n  at main',
      seenAt: minute(5),
    };
    expect(shown([ran('prod', run('c3', 9), run('c1', 1, 9))], [refused])).toEqual([
      'c3 | Proven | prod | 09-now | ',
      'c2 | RenderFailed | - | 05-- | nothing of it was applied: fleet/main.ts:3: x is not defined',
      'c1 | Proven | prod | 01-09 | ',
    ]);
  });
});

describe('historyOf', () => {
  it('is empty for a cluster without an applied commit', () => {
    expect(historyOf(cluster({}))).toEqual({ cluster: 'prod', history: [] });
  });
});

describe('refusalsFor', () => {
  it('returns the refused heads of the Pipelines that assigned something to the clusters', () => {
    const refused = [{ commit: 'c2', verdict: 'Refused', seenAt: minute(1) }] as const;
    const other = { ...pipeline({ refused: [{ ...refused[0], commit: 'x' }] }), metadata: { name: 'other' } };
    expect(refusalsFor([ran('prod', run('c1', 1))], [pipeline({ refused }), other])).toEqual(refused);
  });
});
