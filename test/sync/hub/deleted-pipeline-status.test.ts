import { describe, expect, it } from 'vitest';
import { deletedPipelineStatus } from '../../../src/sync/hub/deleted-pipeline-status.ts';
import { clusterOf } from '../promote/builders.ts';

const NOW = new Date('2030-01-01T12:00:00Z');
const LATER = new Date('2030-01-01T13:00:00Z');
const PROVEN = [{ digest: 'a1', commit: 'c1', provenAt: '2030-01-01T11:00:00Z' }];

function assignedCluster(): ReturnType<typeof clusterOf> {
  const cluster = clusterOf({}, { state: 'Proven', commit: 'c1', renderedDigest: 'a1', proven: PROVEN });
  const assigned = { pipeline: 'fleet', commit: 'c1', digest: 'a1', mode: 'Apply' } as const;
  return { ...cluster, status: { conditions: [], ...cluster.status, assigned } };
}

describe('the status of a cluster without a Pipeline', () => {
  it('FST-6 reports that it is not synced any more, why, and what to do', () => {
    const status = deletedPipelineStatus(assignedCluster(), NOW);
    const conditions = status?.conditions.map((each) => `${each.type}=${each.status} ${each.reason}`);
    expect(conditions).toEqual([
      'Synced=Unknown PipelineDeleted',
      'Progressing=False PipelineDeleted',
      'Stalled=True PipelineDeleted',
    ]);
    expect(status).toMatchObject({
      phase: 'Stalled',
      waiting: { reason: 'PipelineDeleted', since: NOW.toISOString() },
      sync: { state: 'Held', since: NOW.toISOString() },
      assigned: { pipeline: 'fleet', mode: 'Observe' },
    });
    expect(status?.sync?.message).toMatch(
      /^Pipeline fleet was deleted: .* run: kubenode sync --from REPOSITORY$/,
    );
  });

  it('keeps what is proven there, for a Pipeline that is created again', () => {
    const sync = deletedPipelineStatus(assignedCluster(), NOW)?.sync;
    expect(sync).toMatchObject({ commit: 'c1', renderedDigest: 'a1', proven: PROVEN });
  });

  it('is the same later, so that it is written once', () => {
    const cluster = assignedCluster();
    const status = deletedPipelineStatus(cluster, NOW);
    expect(deletedPipelineStatus({ ...cluster, ...(status ? { status } : {}) }, LATER)).toEqual(status);
  });

  it('is nothing for a cluster that was never assigned a commit', () => {
    expect(deletedPipelineStatus(clusterOf(), NOW)).toBeUndefined();
  });
});
