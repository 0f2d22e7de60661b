import { describe, expect, it } from 'vitest';
import { explainRelease, findRelease } from '../../../../src/cli/commands/why/release.ts';
import {
  FAILED,
  failedRelease,
  HEAD,
  PROVEN,
  pipelineWith,
  recordOf,
} from '../../../sync/revert/builders.ts';

const RELEASES = [failedRelease(), failedRelease({ commit: HEAD, state: 'Proven' })];
const [FIRST] = RELEASES;

describe('why release', () => {
  it.each([
    ['its name', `fleet-${FAILED.slice(0, 12)}`],
    ['its commit', FAILED],
    ['the beginning of its commit, in any case', FAILED.slice(0, 7).toUpperCase()],
  ])('finds a Release by %s', (_, name) => {
    expect(findRelease(RELEASES, name)).toBe(FIRST);
  });

  it.each([
    ['a commit that no Release has', PROVEN],
    ['a beginning that is too short', FAILED.slice(0, 6)],
  ])('lists the names for %s', (_, name) => {
    expect(() => findRelease(RELEASES, name)).toThrow(`Release ${name} not found in the hub`);
  });

  it('does not choose between two commits with the same beginning', () => {
    const commit = `${FAILED.slice(0, 7)}${'0'.repeat(33)}`;
    const two = [failedRelease(), failedRelease({ commit })];
    expect(() => findRelease(two, FAILED.slice(0, 7))).toThrow('not found in the hub');
    expect(findRelease(two, commit).spec.commit).toBe(commit);
  });

  it('S35 has the clusters that failed, and the revert of this commit by its own Pipeline', () => {
    const own = pipelineWith([{}], { status: { reverts: [recordOf({ state: 'Pushed' })] } });
    const other = { ...own, metadata: { ...own.metadata, name: 'other' } };
    const explained = explainRelease(failedRelease(), [own, other], RELEASES);
    expect(explained).toMatchObject({
      release: `fleet-${FAILED.slice(0, 12)}`,
      pipeline: 'fleet',
      commit: FAILED,
      phase: 'Pending',
      stage: 'prod',
    });
    expect(explained.failedClusters?.map(({ name }) => name)).toEqual(['prod-1', 'test-1']);
    expect(explained.reverts.map(({ reason }) => reason)).toEqual(['RevertPushed']);
  });
});
