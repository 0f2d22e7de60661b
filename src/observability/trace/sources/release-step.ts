/** Makes the step of a Release in the trace of its commit, with its stages and their clusters. Pure. */
import type {
  Cluster,
  CommitRun,
  FailedCluster,
  Release,
  ReleaseStage,
} from '../../../api/generated/types.ts';
import type { StepOutcome, TraceEvent, TraceStep } from '../trace.ts';
import { changeStart } from './change-start.ts';

/** More clusters of a stage are counted only. */
export const MAX_TRACED_CLUSTERS = 50;

/** Begins with the commit: before the first stage are the push, the poll or the webhook, the render and the checks. */
export function releaseStep(release: Release, clusters: readonly Cluster[]): TraceStep {
  const { metadata, spec, status } = release;
  const { changed, clusters: total } = spec.plan;
  const { startedAt, attributes } = changeStart(spec.committedAt, metadata.creationTimestamp);
  return {
    key: `release/${metadata.uid ?? spec.pipeline}`,
    name: 'release',
    subject: spec.pipeline,
    startedAt,
    endedAt: status?.finishedAt,
    ...releaseResult(release),
    attributes: {
      'kubenode.commit': spec.commit,
      'kubenode.release': metadata.name,
      'kubenode.pipeline': spec.pipeline,
      'kubenode.superseded_by': status?.supersededBy,
      'kubenode.clusters': total,
      'kubenode.clusters.changed': changed,
      ...attributes,
    },
    steps: [
      {
        key: 'render',
        name: 'accept and render',
        startedAt: spec.committedAt && startedAt,
        endedAt: spec.committedAt && metadata.creationTimestamp,
        outcome: 'Ok',
        because: `${changed} of ${total} clusters change`,
      },
      ...(status?.stages ?? []).map((stage) => stageStep(stage, release, clusters)),
    ],
  };
}

type StepResult = Pick<TraceStep, 'outcome' | 'state' | 'reason' | 'because'>;

function releaseResult({ status }: Release): StepResult {
  const { stages = [], supersededBy, failedClusters: [cluster] = [] } = status ?? {};
  if (stages.length > 0 && stages.every(({ state }) => state === 'Proven')) {
    return { outcome: 'Ok', state: 'Proven' };
  }
  const failed = stages.find(hasFailed);
  if (failed) return { outcome: 'Error', state: 'Failed', ...failureOf(failed, cluster) };
  return { outcome: 'Unset', state: supersededBy === undefined ? 'Running' : 'Superseded' };
}

function failureOf(
  stage: ReleaseStage,
  cluster: FailedCluster | undefined,
): Pick<TraceStep, 'reason' | 'because'> {
  return {
    reason: cluster?.reason ?? STAGE_FAILED,
    because: cluster?.message ?? `stage ${stage.name} failed`,
  };
}

const STAGE_FAILED = 'StageFailed';
const OUTCOMES: Readonly<Record<string, StepOutcome>> = { Proven: 'Ok', Failed: 'Error' };

function stageStep(stage: ReleaseStage, release: Release, clusters: readonly Cluster[]): TraceStep {
  const { name, startedAt, clusters: counts = {} } = stage;
  const steps = startedAt === undefined ? [] : failuresFirst(clusterSteps(clusters, release, name));
  return {
    key: `stage/${name}`,
    name: 'stage',
    subject: name,
    startedAt,
    endedAt: startedAt && (stage.provenAt ?? release.status?.finishedAt),
    ...stageResult(stage),
    attributes: {
      'kubenode.commit': release.spec.commit,
      'kubenode.pipeline': release.spec.pipeline,
      'kubenode.stage': name,
      'kubenode.clusters': counts.total,
      'kubenode.clusters.proven': counts.proven,
      'kubenode.clusters.failed': counts.failed,
      'kubenode.clusters.unchanged': counts.unchanged,
      'kubenode.clusters.left_out': Math.max(0, steps.length - MAX_TRACED_CLUSTERS),
    },
    events: failureEvents(stage),
    steps: steps.slice(0, MAX_TRACED_CLUSTERS),
  };
}

/** A stage keeps the time of its failure when it recovers. One that failed, and was then superseded, has failed. */
function hasFailed({ state, failedAt }: ReleaseStage): boolean {
  return state === 'Failed' || (state === 'Superseded' && failedAt !== undefined);
}

function stageResult(stage: ReleaseStage): StepResult {
  const { state, waiting } = stage;
  const because = waiting?.message ?? waiting?.reason;
  if (hasFailed(stage)) {
    return { outcome: 'Error', state, reason: STAGE_FAILED, because };
  }
  return { outcome: OUTCOMES[state] ?? 'Unset', state, because };
}

/** A stage that was proven after it had failed keeps the moment. */
function failureEvents({ failedAt }: ReleaseStage): readonly TraceEvent[] {
  return failedAt === undefined ? [] : [{ name: 'stage failed', at: failedAt }];
}

/** A cluster that failed is never left out for one that did not. */
function failuresFirst(steps: readonly TraceStep[]): readonly TraceStep[] {
  return [...steps.filter(isFailed), ...steps.filter((step) => !isFailed(step))];
}

function isFailed({ outcome }: TraceStep): boolean {
  return outcome === 'Error';
}

function clusterSteps(clusters: readonly Cluster[], { spec }: Release, stage: string): readonly TraceStep[] {
  return clusters.flatMap(({ metadata: { name }, status }) => {
    const runs = (status?.sync?.history ?? []).filter(
      (run) => run.commit === spec.commit && run.pipeline === spec.pipeline && run.stage === stage,
    );
    return runs.map((run) => clusterStep(name, run));
  });
}

/** A commit that ran again on a cluster, after another one, has a step for each time. */
function clusterStep(cluster: string, run: CommitRun): TraceStep {
  const { commit, state, reason, message, startedAt, provenAt, endedAt, sameContentAs } = run;
  return {
    key: `cluster/${cluster}/${startedAt}`,
    name: 'cluster',
    subject: cluster,
    startedAt,
    endedAt: provenAt ?? endedAt,
    outcome: OUTCOMES[state ?? ''] ?? 'Unset',
    state,
    reason,
    because: message,
    attributes: {
      'kubenode.commit': commit,
      'k8s.cluster.name': cluster,
      'kubenode.stage': run.stage,
      'kubenode.unchanged': sameContentAs !== undefined,
    },
  };
}
