/** Notes of `kubenode plan` about the hub: what is paused, and when the stages of the Pipeline take no commit. Pure. */
import type { Cluster, Pipeline } from '../../api/generated/types.ts';
import { closedTimeNotes } from '../../views/status/closed-times.ts';
import { pausedPartNotes } from '../../views/status/pipeline-notes.ts';

export interface NotedHub {
  readonly clusters: readonly Cluster[];
  readonly pipelines: readonly Pipeline[];
}

/** Returns the notes for the Pipeline as it is in the hub: a commit that opens a window, or ends a freeze, is held by what is in force before it. */
export function hubNotes(
  { clusters, pipelines }: NotedHub,
  pipeline: string | undefined,
  now: Date,
): readonly string[] {
  const promoting = pipelines.filter(({ metadata }) => metadata.name === pipeline);
  return [
    ...clusters.flatMap((cluster) => pausedPartNotes(cluster, now)),
    ...promoting.flatMap((each) =>
      closedTimeNotes(each, now).map((note) => `Pipeline ${each.metadata.name}: ${note}`),
    ),
  ];
}
