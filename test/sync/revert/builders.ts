/** A Pipeline whose commit failed in a stage, for tests. */
import type { Pipeline, PipelineRevert, PipelineStatus, Release } from '../../../src/api/generated/types.ts';
import { reportingPipeline } from '../report/builders.ts';

export const [PROVEN, FAILED, HEAD] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)] as const;
export const REVERT = 'd'.repeat(40);

export interface FailedStage {
  readonly name?: string;
  readonly commit?: string;
  readonly proven?: string | undefined;
  readonly state?: string;
  readonly supersededBy?: string;
}

/** The Release of a commit that failed in a stage. */
export function failedRelease({
  name = 'prod',
  commit = FAILED,
  state = 'Failed',
  supersededBy,
}: FailedStage = {}): Release {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Release',
    metadata: { name: `fleet-${commit.slice(0, 12)}` },
    spec: { pipeline: 'fleet', commit, subject: 'Update web to 2.0', plan: {} },
    status: {
      conditions: [],
      stage: name,
      stages: [{ name, state }],
      failedClusters: [
        { name: `${name}-1`, stage: name, reason: 'Unhealthy', message: 'dial 10.0.0.7: refused' },
        { name: 'test-1', stage: 'other', reason: 'Unhealthy' },
      ],
      ...(supersededBy === undefined ? {} : { supersededBy }),
    },
  } as unknown as Release;
}

/** A Pipeline with the stages `test` and `prod`, of which those are on a Release. */
export function pipelineWith(
  stages: readonly FailedStage[],
  {
    status = {},
    spec = {},
    source = {},
  }: {
    readonly status?: Partial<PipelineStatus>;
    readonly spec?: object;
    readonly source?: object;
  } = {},
): Pipeline {
  const made = reportingPipeline({ writeCredentialsRef: { name: 'push', key: 'token' }, ...source });
  const recorded = stages.map(({ name = 'prod', ...more }) => ({
    name,
    ...('proven' in more ? { commit: more.proven } : { commit: PROVEN }),
  }));
  return {
    ...made,
    spec: { ...made.spec, onFailure: 'ProposeRevert', stages: [{ name: 'test' }, { name: 'prod' }], ...spec },
    status: { stages: recorded, ...status },
  } as unknown as Pipeline;
}

export function recordOf(more: Partial<PipelineRevert> = {}): PipelineRevert {
  return {
    commit: FAILED,
    stage: 'prod',
    release: `fleet-${FAILED.slice(0, 12)}`,
    proven: PROVEN,
    onto: FAILED,
    revert: REVERT,
    branch: 'kubenode/revert/fleet/prod/bbbbbbbbbbbb',
    how: 'Propose',
    state: 'Planned',
    failedClusters: [{ name: 'prod-1', reason: 'Unhealthy' }],
    plannedAt: '2030-01-01T12:00:00.000Z',
    ...more,
  };
}
