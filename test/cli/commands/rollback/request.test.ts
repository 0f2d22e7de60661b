import { describe, expect, it } from 'vitest';
import type { Cluster, Pipeline } from '../../../../src/api/generated/types.ts';
import { type RollbackRequest, rollbackFor } from '../../../../src/cli/commands/rollback/request.ts';
import { clusterOf } from '../../../sync/promote/builders.ts';

const [GOOD, BAD] = ['a'.repeat(40), 'b'.repeat(40)];
const NOW = new Date('2030-01-01T00:00:00Z');
const SYNC = {
  renderedDigest: 'sha256:bad',
  revisions: [
    { commit: BAD, digest: 'sha256:bad', keptAt: '2030-01-01T00:00:00Z' },
    { commit: GOOD, digest: 'sha256:good', keptAt: '2029-01-01T00:00:00Z' },
  ],
};
const PIPELINE = { metadata: { name: 'fleet' }, spec: {} } as Pipeline;

function request(more: Partial<RollbackRequest> = {}): RollbackRequest {
  const cluster = clusterOf({}, SYNC);
  return { cluster, pipeline: PIPELINE, to: 'aaaaaaa', by: 'anna', reason: 'ticket 7', now: NOW, ...more };
}

function refusal(more: Partial<RollbackRequest>): string {
  try {
    rollbackFor(request(more));
    return 'none';
  } catch (error) {
    const { message, hint = '' } = error as Error & { hint?: string };
    return `${message} | ${hint}`;
  }
}

const HALT = { by: 'bert', reason: 'ticket 6', since: '2030-01-01T00:00:00Z' };
const REMOVED: Cluster = {
  ...clusterOf(),
  status: {
    conditions: [],
    sync: SYNC,
    waiting: { reason: 'RemovedFromGit', message: 'git does not declare it', since: '' },
  },
};

describe('rollbackFor', () => {
  it('S24 names the revision, who asked for it, why and when', () => {
    expect(rollbackFor(request())).toEqual({
      commit: GOOD,
      digest: 'sha256:good',
      by: 'anna',
      reason: 'ticket 7',
      since: '2030-01-01T00:00:00.000Z',
    });
  });

  it.each<[what: string, more: Partial<RollbackRequest>, reason: RegExp]>([
    ['an unknown revision', { to: 'ccccccc' }, /no kept revision "ccccccc" \| use one of: b{12}, a{12}$/],
    [
      'no kept revisions',
      { cluster: clusterOf() },
      /\| sync keeps none yet: .*run kubenode install on the hub/,
    ],
    ['the revision that runs', { to: BAD }, /already runs revision b{12} \| .* halt fleet --cluster x$/],
    [
      'a halted pipeline',
      { pipeline: { ...PIPELINE, spec: { halt: HALT } } as Pipeline },
      /was halted by bert/,
    ],
    ['a paused cluster', { cluster: clusterOf({ paused: true }, SYNC) }, /x is paused \(spec\.paused\)/],
    [
      'a cluster paused by a person',
      { cluster: clusterOf({ pauses: [{ name: 'p', by: 'bert', reason: 'disk' }] }, SYNC) },
      /x is paused by bert/,
    ],
    ['a cluster that git removed', { cluster: REMOVED }, /git does not declare it/],
  ])('S24 refuses to roll back: %s', (_, more, reason) => {
    expect(refusal(more)).toMatch(reason);
  });

  it('permits the revision that runs where it replaces another rollback', () => {
    const rollback = {
      commit: GOOD,
      digest: 'sha256:good',
      by: 'anna',
      reason: '',
      since: '2030-01-01T00:00:00Z',
    };
    const cluster = clusterOf({ rollback }, SYNC);
    expect(rollbackFor(request({ cluster, to: BAD })).commit).toBe(BAD);
  });
});
