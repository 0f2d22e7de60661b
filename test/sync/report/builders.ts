/** A Pipeline that reports at a git host, and Releases, for tests. */
import type { Pipeline, PipelineStatus, Release, ReleaseStatus } from '../../../src/api/generated/types.ts';

type Source = Pipeline['spec']['source'];

export function reportingPipeline(
  source: Partial<Source> = {},
  status: Partial<PipelineStatus> = {},
): Pipeline {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: {
      source: {
        repository: 'https://github.com/acme/fleet.git',
        ref: 'refs/heads/main',
        statusCredentialsRef: { name: 'status' },
        ...source,
      },
      stages: [],
    },
    status,
  } as unknown as Pipeline;
}

/** `minute` is when it was created. */
export function releaseOf(commit: string, status: Partial<ReleaseStatus> = {}, minute = 0): Release {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Release',
    metadata: {
      name: `fleet-${commit}`,
      creationTimestamp: new Date(Date.UTC(2030, 0, 1, 11, minute)).toISOString(),
    },
    spec: { pipeline: 'fleet', commit, plan: {} },
    status: { conditions: [], ...status },
  } as unknown as Release;
}

export function promoting(
  proven: number,
  total: number,
  more: Partial<ReleaseStatus> = {},
): Partial<ReleaseStatus> {
  return {
    conditions: [condition('Progressing', 'True', 'Soaking')],
    stage: 'prod',
    stages: [{ name: 'prod', state: 'Promoting', clusters: { total, proven } }],
    clusters: { total, proven },
    ...more,
  };
}

export function ended(
  type: 'Succeeded' | 'Superseded',
  more: Partial<ReleaseStatus> = {},
): Partial<ReleaseStatus> {
  return { conditions: [condition(type, 'True', type)], clusters: { total: 4, proven: 4 }, ...more };
}

export function condition(
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
): ReleaseStatus['conditions'][number] {
  return { type, status, reason, message: '', lastTransitionTime: '2030-01-01T11:00:00Z' };
}
