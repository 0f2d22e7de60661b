import { describe, expect, it } from 'vitest';
import type { Release } from '../../../../src/api/generated/types.ts';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { approverProblem, excludedApprovers } from '../../../../src/sync/promote/gates/approvers.ts';
import { orderReleases } from '../../../../src/sync/promote/release/order.ts';
import { commitsOf, releaseOf } from '../builders.ts';

interface Step {
  /** What its commit renders to. */
  readonly plan: string;
  readonly by?: string;
  /** The approvals that it declares: `prod=p2`. */
  readonly approves?: string;
  readonly spec?: Partial<Release['spec']>;
}

/** Releases c1, c2, … The stage is on `from`, and the newest one waits for it. */
function problem(steps: readonly Step[], from = 1, stage = 'prod'): string | undefined {
  const releases = steps.map(({ plan, by, approves = '', spec }, index) => {
    const release = releaseOf(`c${index + 1}`, '');
    const approvals = approves
      .split(' ')
      .filter(Boolean)
      .map((each) => ({ stage: each.split('=')[0] ?? '', planDigest: each.split('=')[1] ?? '' }));
    const authors = by === undefined ? {} : { authors: by.split(' ').filter(Boolean) };
    return {
      ...release,
      spec: { ...release.spec, plan: { ...release.spec.plan, digest: plan }, approvals, ...authors, ...spec },
    };
  });
  const ordered = orderReleases(releases, createCommitHistory(commitsOf(...steps.map(() => ({})))));
  const to = ordered.at(-1);
  if (!to) throw new Error('a Release is needed');
  const planDigest = steps.at(-1)?.plan ?? '';
  return approverProblem({ stage, planDigest, from: ordered[from - 1], to, releases: ordered });
}

const START: Step = { plan: 'p1', by: 'ann' };
const CHANGE: Step = { plan: 'p2', by: 'ann laptop-of-ann' };
const APPROVAL: Step = { plan: 'p2', by: 'bob', approves: 'prod=p2' };

describe('approverProblem', () => {
  it.each<[what: string, steps: readonly Step[], from?: number]>([
    ['of another person', [START, CHANGE, APPROVAL]],
    ['of a person who wrote only what the stage has', [{ ...START, by: 'bob' }, CHANGE, APPROVAL]],
    [
      'of a person who wrote only what is taken back',
      [START, CHANGE, { ...START, by: 'eve' }, { ...CHANGE, by: 'ann' }, APPROVAL],
    ],
    ['that later commits keep', [START, CHANGE, APPROVAL, { ...APPROVAL, by: 'ann' }]],
    [
      'of a change whose commits had to be signed by none',
      [START, { plan: 'p2', spec: { author: 'Ann' } }, APPROVAL],
    ],
    ['before the first commit of the stage', [CHANGE, APPROVAL], 0],
  ])('S36 takes for that of another person the approval %s', (_, steps, from) => {
    expect(problem(steps, from)).toBeUndefined();
  });

  it.each<[what: string, steps: readonly Step[], expected: RegExp]>([
    [
      'of the author',
      [START, CHANGE, { ...APPROVAL, by: 'ann' }],
      /^ann has part in commit c2 and in its approval, commit c3: let another person approve it/,
    ],
    [
      'of the author with another key',
      [START, CHANGE, { ...APPROVAL, by: 'laptop-of-ann' }],
      /^laptop-of-ann has part/,
    ],
    [
      'in a push together with a commit of the author',
      [START, CHANGE, { ...APPROVAL, by: 'bob ann' }],
      /^ann has part/,
    ],
    [
      'in a push that changes content, too',
      [START, CHANGE, { plan: 'p3', by: 'bob', approves: 'prod=p3' }],
      /^bob has part in commit c3/,
    ],
    [
      'of one of several authors',
      [START, CHANGE, { plan: 'p3', by: 'bob' }, { ...APPROVAL, plan: 'p3', approves: 'prod=p3' }],
      /^bob has part in commit c3/,
    ],
    [
      'that the author took over from another stage',
      [
        START,
        CHANGE,
        { ...APPROVAL, approves: 'pre=p2' },
        { ...APPROVAL, by: 'ann', approves: 'pre=p2 prod=p2' },
      ],
      /^ann has part/,
    ],
    [
      'that the author restored',
      [START, CHANGE, APPROVAL, { plan: 'p2', by: 'bob' }, { ...APPROVAL, by: 'ann' }],
      /^ann has part/,
    ],
    [
      'of an author whom an unsigned commit names',
      [START, { plan: 'p2', spec: { author: 'Bob' } }, APPROVAL],
      /^bob has part/,
    ],
    [
      'where authors are unknown',
      [START, { plan: 'p2', by: '*' }, APPROVAL],
      /^somebody who is not known has part in commit c2/,
    ],
    [
      'where approvers are unknown',
      [START, CHANGE, { ...APPROVAL, by: '*' }],
      /^somebody who is not known has part/,
    ],
    [
      'of a commit without a signature',
      [START, CHANGE, { plan: 'p2', approves: 'prod=p2', spec: { author: 'bob' } }],
      /^it is not known who signed the commit that approves it/,
    ],
    ['of a merge of nothing', [START, CHANGE, { ...APPROVAL, by: '' }], /^it is not known who signed/],
    [
      'that the oldest known Release has already',
      [
        { ...START, approves: 'prod=p2' },
        { ...CHANGE, approves: 'prod=p2' },
      ],
      /^it is not known who signed/,
    ],
    ['that the newest Release does not have', [START, CHANGE], /^it is not known who signed/],
  ])('S36 does not take an approval for that of another person: %s', (_, steps, expected) => {
    expect(problem(steps)).toMatch(expected);
  });

  it('S36 does not trust Releases of an earlier version, which kept no approvals', () => {
    const { approvals: _, ...spec } = releaseOf('c1', '').spec;
    const ordered = orderReleases(
      [
        { ...releaseOf('c1', ''), spec },
        {
          ...releaseOf('c2', ''),
          spec: { ...spec, commit: 'c2', approvals: [{ stage: 'prod', planDigest: 'p2' }], authors: ['bob'] },
        },
      ],
      createCommitHistory(commitsOf({}, {})),
    );
    const to = ordered.at(-1);
    if (!to) throw new Error('a Release is needed');
    expect(
      approverProblem({ stage: 'prod', planDigest: 'p2', from: undefined, to, releases: ordered }),
    ).toMatch(/^it is not known who signed/);
  });
});

function made(commit: string, day: number, spec: Partial<Release['spec']>, states = ''): Release {
  const release = releaseOf(commit, states);
  const metadata = { ...release.metadata, creationTimestamp: `2030-01-0${day}T00:00:00Z` };
  return { ...release, metadata, spec: { ...release.spec, ...spec } };
}

describe('excludedApprovers', () => {
  it('S36 are those who changed what the stage has not yet, by the Releases of the Pipeline alone', () => {
    const waiting = made('c4', 4, { authors: ['eve'] });
    const releases = [
      waiting,
      made('c3', 3, { author: 'Bob' }),
      made('c1', 1, { authors: ['old'] }, 'prod=Proven'),
      made('c2', 2, { authors: ['ann', 'eve'] }),
      made('x', 3, { authors: ['other'], pipeline: 'other' }),
      made('c5', 5, { authors: ['late'] }),
    ];
    expect(excludedApprovers(waiting, 'prod', releases)).toEqual(['ann', 'bob', 'eve']);
    expect(excludedApprovers(waiting, 'pre', releases)).toEqual(['ann', 'bob', 'eve', 'old']);
    expect(excludedApprovers(made('gone', 6, {}), 'prod', releases)).toEqual([]);
  });
});
