import { describe, expect, it } from 'vitest';
import { listClusterHistory } from '../../../src/cli/commands/history.ts';
import { COMMIT, cluster, OLD_COMMIT, release } from './builders.ts';

describe('listClusterHistory', () => {
  it('starts with the current commit and does not repeat it', () => {
    const proven = [
      { commit: COMMIT, digest: 'sha256:1', provenAt: 'x' },
      { commit: OLD_COMMIT, digest: 'sha256:0', provenAt: 'y' },
    ];
    const entries = listClusterHistory(
      cluster({ commit: COMMIT, state: 'Proven', since: 'now', renderedDigest: 'sha256:1', proven }),
      [release({}, OLD_COMMIT)],
    );
    expect(entries.map(({ commit, state, subject }) => [commit, state, subject])).toEqual([
      [COMMIT, 'Proven', '-'],
      [OLD_COMMIT, 'Proven', 'shop 1.1'],
    ]);
  });

  it('is empty for a cluster without an applied commit', () => {
    expect(listClusterHistory(cluster({}), [])).toEqual([]);
  });
});
