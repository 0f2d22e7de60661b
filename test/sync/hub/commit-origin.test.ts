import { describe, expect, it } from 'vitest';
import type { Pipeline, Release } from '../../../src/api/generated/types.ts';
import { commitOrigin, rollbackOrigin } from '../../../src/sync/hub/commit-origin.ts';
import { clusterOf, releaseOf } from '../promote/builders.ts';

const COMMIT = 'c'.repeat(40);
const PLAN = `sha256:${'1'.repeat(64)}`;

function originWith(
  spec: object | undefined,
  approvals: readonly object[] = [],
  others: readonly Release[] = [],
): ReturnType<typeof commitOrigin> {
  const release = spec && ({ spec: { commit: COMMIT, plan: { digest: PLAN }, ...spec } } as Release);
  const pipeline = { spec: { approvals } } as unknown as Pipeline;
  const stores = {
    releases: {
      get: (name: unknown) => (name === 'fleet-cccccccccccc' ? release : undefined),
      byIndex: () => others,
    },
    pipelines: { get: (name: unknown) => (name === 'fleet' ? pipeline : undefined) },
  };
  return commitOrigin(stores, 'fleet', COMMIT);
}

function made(commit: string, day: number, spec: Partial<Release['spec']>): Release {
  const release = releaseOf(commit, '');
  const metadata = { ...release.metadata, creationTimestamp: `2030-01-0${day}T00:00:00Z` };
  return { ...release, metadata, spec: { ...release.spec, ...spec } };
}

describe('commitOrigin', () => {
  it('S30 takes author, signer, subject and plan from the Release', () => {
    expect(originWith({ author: 'Ann', signer: 'ann@example.com', subject: 'Update kubelet' })).toEqual({
      author: 'Ann',
      signer: 'ann@example.com',
      subject: 'Update kubelet',
      plan: PLAN,
    });
  });

  it('S30 names no signer where none was verified', () => {
    expect(originWith({ author: 'Ann' })).toEqual({ author: 'Ann', plan: PLAN });
  });

  it('S30 adds the approvals of this plan, and of no other', () => {
    const other = `sha256:${'2'.repeat(64)}`;
    const approvals = [
      { stage: 'prod', planDigest: PLAN, reason: 'reviewed' },
      { stage: 'prod', planDigest: other, reason: 'another one' },
    ];
    expect(originWith({}, approvals).approvals).toEqual([
      { stage: 'prod', planDigest: PLAN, reason: 'reviewed' },
    ]);
  });

  it('S30 names the commit that brought an approval, and who signed it', () => {
    const approval = { stage: 'prod', planDigest: PLAN };
    const releases = [
      made('later', 3, { approvals: [approval], signer: 'eve@example.com' }),
      made('before', 1, { approvals: [] }),
      made('approving', 2, { approvals: [approval], signer: 'bob@example.com' }),
    ];
    expect(originWith({}, [{ ...approval, reason: 'reviewed' }], releases).approvals).toEqual([
      { ...approval, reason: 'reviewed', commit: 'approving', by: 'bob@example.com' },
    ]);
  });

  it.each([
    ['without a Release', undefined],
    ['with the Release of another commit that begins alike', { commit: `${COMMIT.slice(0, 12)}ff` }],
  ])('S30 knows nothing about the commit %s', (_, spec) => {
    expect(originWith(spec)).toEqual({});
  });
});

describe('rollbackOrigin', () => {
  const rollback = {
    commit: COMMIT,
    digest: PLAN,
    by: 'anna',
    reason: 'ticket 7',
    since: '2030-01-01T00:00:00Z',
  };

  it('S24 S30 records who rolled the cluster back to the commit, and why', () => {
    expect(rollbackOrigin(clusterOf({ rollback }), COMMIT)).toEqual({
      rollback: { by: 'anna', reason: 'ticket 7', since: '2030-01-01T00:00:00Z' },
    });
  });

  it.each([
    ['of another commit', clusterOf({ rollback: { ...rollback, commit: 'c0' } })],
    ['of a cluster that follows git', clusterOf()],
    ['of a Cluster that was deleted', undefined],
  ])('S24 S30 leaves out a rollback in the writes %s', (_, cluster) => {
    expect(rollbackOrigin(cluster, COMMIT)).toEqual({});
  });
});
