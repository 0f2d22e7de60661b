/** Counts what a Release changes in each stage, against what its clusters have when it is created. Pure. */
import type { Release, ReleasePlanStage } from '../../../api/generated/types.ts';
import type { ObjectCounts } from '../../commits.ts';
import type { ClusterContent } from '../ports.ts';

export interface StageContents {
  readonly stage: string;
  readonly clusters: readonly ClusterContent[];
}

type Counts = ReadonlyMap<string, ObjectCounts>;

/**
 * Adds the changes of the stages to a Release. It stays unchanged unless the changes of every cluster are known: an unknown one
 * must not look like none.
 */
export function withStageChanges(
  release: Release,
  stages: readonly StageContents[],
  counts: Counts,
): Release {
  if (stages.some(({ clusters }) => clusters.some(({ cluster }) => !counts.has(cluster)))) return release;
  const changes = stages.map((each) => stageChanges(each, counts));
  const plan = {
    ...release.spec.plan,
    changed: sumOf(changes, 'changed'),
    deletes: sumOf(changes, 'deletes'),
    stages: changes,
  };
  return { ...release, spec: { ...release.spec, plan } };
}

function stageChanges({ stage, clusters }: StageContents, counts: Counts): Required<ReleasePlanStage> {
  const found = clusters.flatMap(({ cluster }) => counts.get(cluster) ?? []);
  return {
    name: stage,
    clusters: clusters.length,
    changed: found.filter(({ creates, updates, deletes }) => creates + updates + deletes > 0).length,
    creates: sumOf(found, 'creates'),
    updates: sumOf(found, 'updates'),
    deletes: sumOf(found, 'deletes'),
  };
}

function sumOf<K extends string>(list: readonly Readonly<Record<K, number>>[], field: K): number {
  return list.reduce((sum, each) => sum + each[field], 0);
}
