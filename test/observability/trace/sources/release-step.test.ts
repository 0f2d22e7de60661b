import { describe, expect, it } from 'vitest';
import type { Cluster, CommitRun, Release, ReleaseStatus } from '../../../../src/api/generated/types.ts';
import {
  MAX_TRACED_CLUSTERS,
  releaseStep,
} from '../../../../src/observability/trace/sources/release-step.ts';
import { later } from '../../../controllers/remedyjob/jobs.ts';

const COMMIT = 'a'.repeat(40);

function releaseWith(status: Partial<ReleaseStatus>): Release {
  return {
    metadata: { name: `fleet-${COMMIT.slice(0, 12)}`, creationTimestamp: later(20) },
    spec: { pipeline: 'fleet', commit: COMMIT, plan: { digest: 'd', clusters: 60, changed: 60 } },
    status: { conditions: [], ...status },
  } as unknown as Release;
}

const STAGE = { name: 'test', startedAt: later(30) } as const;

describe('the step of a Release', () => {
  it.each<[name: string, status: Partial<ReleaseStatus>, expected: object]>([
    ['proven', { stages: [{ ...STAGE, state: 'Proven' }] }, { outcome: 'Ok', state: 'Proven' }],
    [
      'proven after a stage had failed',
      { stages: [{ ...STAGE, state: 'Proven', failedAt: later(40), provenAt: later(50) }] },
      { outcome: 'Ok', state: 'Proven' },
    ],
    [
      'superseded after a stage had failed and recovered',
      {
        supersededBy: 'fleet-b',
        stages: [
          { ...STAGE, state: 'Proven', failedAt: later(40), provenAt: later(50) },
          { name: 'prod', state: 'Superseded' },
        ],
      },
      { outcome: 'Unset', state: 'Superseded' },
    ],
    [
      'running, with a stage that recovers',
      { stages: [{ ...STAGE, state: 'Soaking', failedAt: later(40) }] },
      { outcome: 'Unset', state: 'Running', steps: [{}, { outcome: 'Unset', state: 'Soaking' }] },
    ],
    [
      'failed, by its first cluster',
      {
        stages: [{ ...STAGE, state: 'Failed', failedAt: later(40) }],
        failedClusters: [{ name: 't-1', reason: 'Unhealthy', message: 'Deployment shop' }],
      },
      { outcome: 'Error', state: 'Failed', reason: 'Unhealthy', because: 'Deployment shop' },
    ],
    [
      'failed without a cluster that is named',
      { supersededBy: 'fleet-b', stages: [{ ...STAGE, state: 'Superseded', failedAt: later(40) }] },
      { outcome: 'Error', state: 'Failed', reason: 'StageFailed', because: 'stage test failed' },
    ],
    [
      'superseded',
      { supersededBy: 'fleet-b', stages: [{ ...STAGE, state: 'Superseded' }] },
      { outcome: 'Unset', state: 'Superseded' },
    ],
    ['still running', { stages: [{ ...STAGE, state: 'Soaking' }] }, { outcome: 'Unset', state: 'Running' }],
    ['without a stage', {}, { outcome: 'Unset', state: 'Running' }],
  ])('is that of one that is %s', (_, status, expected) => {
    expect(releaseStep(releaseWith(status), [])).toMatchObject(expected);
  });

  it('has the moment at which a stage failed also where the stage was proven later', () => {
    const [, stage] =
      releaseStep(
        releaseWith({ stages: [{ ...STAGE, state: 'Proven', failedAt: later(40), provenAt: later(50) }] }),
        [],
      ).steps ?? [];
    expect(stage).toMatchObject({ outcome: 'Ok', events: [{ name: 'stage failed', at: later(40) }] });
  });

  it('has at most 50 clusters of a stage, those that failed first, and counts the rest', () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      clusterWith(`t-${index}`, { state: index === 59 ? 'Failed' : 'Proven', provenAt: later(100) }),
    );
    const [, stage] = releaseStep(releaseWith({ stages: [{ ...STAGE, state: 'Proven' }] }), many).steps ?? [];
    expect(stage?.steps).toHaveLength(MAX_TRACED_CLUSTERS);
    expect(stage?.steps?.[0]).toMatchObject({ attributes: { 'k8s.cluster.name': 't-59' } });
    expect(stage?.attributes).toMatchObject({ 'kubenode.clusters.left_out': 10 });
  });

  it('has a step for each time that the commit ran on a cluster', () => {
    const history = [90, 30].map((at) => ({ ...clusterRun({}), startedAt: later(at) }));
    const cluster = { metadata: { name: 't-1' }, status: { sync: { history } } } as unknown as Cluster;
    const [, stage] =
      releaseStep(releaseWith({ stages: [{ ...STAGE, state: 'Proven' }] }), [cluster]).steps ?? [];
    expect(new Set(stage?.steps?.map(({ key }) => key)).size).toBe(2);
  });
});

function clusterRun(run: Partial<CommitRun>): CommitRun {
  return { commit: COMMIT, pipeline: 'fleet', stage: 'test', startedAt: later(30), state: 'Proven', ...run };
}

function clusterWith(name: string, run: Partial<CommitRun>): Cluster {
  return { metadata: { name }, status: { sync: { history: [clusterRun(run)] } } } as unknown as Cluster;
}
