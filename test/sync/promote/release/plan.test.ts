import { describe, expect, it } from 'vitest';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { orderReleases } from '../../../../src/sync/promote/release/order.ts';
import { expiredReleases, missingRelease } from '../../../../src/sync/promote/release/plan.ts';
import { NOW } from '../../../rollout/builders.ts';
import { commitsOf, releaseOf } from '../builders.ts';
import { PromotionSimulation } from '../simulation/simulation.ts';

describe('missingRelease', () => {
  const { pipeline } = new PromotionSimulation();
  const snapshot = { pipeline, clusters: [], releases: [], commits: [], now: NOW };
  const history = createCommitHistory(commitsOf({ x: 'a1' }, { x: 'a2' }));

  it('creates the Release of the newest accepted commit, once', () => {
    const release = missingRelease(snapshot, history, [['x']]);
    expect(release).toMatchObject({
      metadata: { name: 'fleet-c2' },
      spec: { commit: 'c2', plan: { clusters: 1, changed: 1, unexercised: 0 } },
    });
    expect(release && missingRelease({ ...snapshot, releases: [release] }, history, [['x']])).toBeUndefined();
  });

  it('creates none before the commit is rendered', () => {
    expect(missingRelease(snapshot, createCommitHistory([{ id: 'c1' }]), [])).toBeUndefined();
    expect(missingRelease(snapshot, createCommitHistory([]), [])).toBeUndefined();
  });
});

describe('expiredReleases', () => {
  const finished = ['c1', 'c2', 'c3', 'c4'].map((commit) => {
    const release = releaseOf(commit, 'prod=Proven');
    return { ...release, status: { conditions: [], finishedAt: NOW.toISOString() } };
  });
  const history = createCommitHistory(commitsOf({}, {}, {}, {}, {}));
  const ordered = orderReleases([...finished, releaseOf('c5', 'prod=Promoting')], history);

  it.each([
    [4, []],
    [2, ['fleet-c1', 'fleet-c2']],
    [0, ['fleet-c1', 'fleet-c2', 'fleet-c3', 'fleet-c4']],
  ])('keeps the newest %i finished Releases and every unfinished one', (limit, expected) => {
    const expired = expiredReleases(ordered, [], { stages: [], limit });
    expect(expired.map(({ metadata }) => metadata.name)).toEqual(expected);
  });
});
