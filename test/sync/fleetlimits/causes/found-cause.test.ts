import { describe, expect, it } from 'vitest';
import type { FoundCause } from '../../../../src/api/generated/types.ts';
import { type CauseInput, foundCause } from '../../../../src/sync/fleetlimits/causes/found-cause.ts';
import { ago, cluster, HELD_UPDATE, NOW } from '../builders.ts';

/** The reports of clusters that run a commit of their name, and fail since a minute. */
function reports(...names: readonly string[]): CauseInput['reports'] {
  return names.map((name) => ({
    cluster: cluster(name, {}, { commit: `commit-of-${name}` }),
    failure: { dimension: 'componentUpdate', value: 'kubelet-2', at: ago(60), message: 'it went back' },
  }));
}

function found(names: readonly string[], before?: FoundCause): FoundCause | undefined {
  const terms = { clusters: 2, holdSeconds: 3600 };
  return foundCause({ before, reports: reports(...names), terms, now: NOW });
}

describe('foundCause', () => {
  it('begins when it fails in so many clusters', () => {
    expect(found([])).toBeUndefined();
    expect(found(['a'])).toBeUndefined();
    expect(found(['a', 'b'])).toMatchObject({ since: NOW.toISOString(), value: 'kubelet-2' });
  });

  it('stays as it was while no cluster reports it', () => {
    expect(found([], HELD_UPDATE)).toBe(HELD_UPDATE);
  });

  it('is not renewed while it fails in too few, and shows where', () => {
    const one = found(['a'], HELD_UPDATE);
    expect([one?.since, one?.until]).toEqual([HELD_UPDATE.since, HELD_UPDATE.until]);
    expect(one?.clusters.map(({ cluster: name, at }) => [name, at])).toEqual([
      ['a', ago(60)],
      ['b', ago(600)],
    ]);
  });

  it('is renewed when half of the time is over', () => {
    expect(found(['a', 'b'], HELD_UPDATE)?.until).toBe(HELD_UPDATE.until);
    const renewed = found(['a', 'b'], { ...HELD_UPDATE, until: ago(-1700) });
    expect(Date.parse(renewed?.until ?? '')).toBe(Date.parse(ago(-3600)));
  });

  it('keeps the commit of the first report, also where that one was unknown', () => {
    const [first, second] = HELD_UPDATE.clusters;
    const before = {
      ...HELD_UPDATE,
      clusters: [{ cluster: 'a', at: ago(600) }, ...(second ? [second] : [])],
    };
    expect(found(['a', 'b', 'c'], before)?.clusters.map(({ commit }) => commit)).toEqual([
      undefined,
      first?.commit,
      'commit-of-c',
    ]);
  });

  it('names five clusters, and lists twenty', () => {
    const names = Array.from({ length: 24 }, (_, index) => `c-${String(index).padStart(2, '0')}`);
    const many = found(names);
    expect(many?.clusters).toHaveLength(20);
    expect(many?.message).toBe(
      'componentUpdate kubelet-2 failed in c-00, c-01, c-02, c-03, c-04 and 19 more: it went back',
    );
  });
});
