/** The objects of a hub, sorted for people. Pure. */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

export interface HubObjects {
  readonly pipelines: readonly Pipeline[];
  readonly clusters: readonly Cluster[];
  /** Newest first. */
  readonly releases: readonly Release[];
}

export function sortHub({ pipelines, clusters, releases }: HubObjects): HubObjects {
  return {
    pipelines: sortByName(pipelines),
    clusters: sortByName(clusters),
    releases: sortNewestFirst(releases),
  };
}

type PipelineCondition = NonNullable<Pipeline['status']>['conditions'][number];

/** The first condition that reports a problem: of the repository, of a plan that is held, or of the hub's own objects. */
export function pipelineTrouble({ status }: Pipeline): PipelineCondition | undefined {
  const { conditions = [] }: Partial<NonNullable<Pipeline['status']>> = status ?? {};
  return conditions.find(
    ({ type, status: value }) =>
      (type === 'SourceReady' && value !== 'True') ||
      (type === 'Rendered' && value === 'False') ||
      (['Held', 'Stalled'].includes(type) && value === 'True'),
  );
}

function sortByName<T extends KubeObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function sortNewestFirst(releases: readonly Release[]): Release[] {
  return releases.toSorted((a, b) => (ageKey(a) < ageKey(b) ? 1 : -1));
}

function ageKey({ metadata }: Release): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}
