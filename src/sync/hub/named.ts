/** Which commits the hub and the clusters name: what was accepted before, as far as anybody remembers. Pure. */
import type { Release } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';

/** The newest one that got a Release: each newly accepted commit gets one. */
export function newestReleasedCommit(pipeline: string, releases: readonly Release[]): string | undefined {
  const own = releases.filter(({ spec }) => spec.pipeline === pipeline);
  const sorted = own.toSorted(
    (a, b) =>
      byCode(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      byCode(a.metadata.name, b.metadata.name),
  );
  return sorted.at(-1)?.spec.commit;
}

/** What a cluster has and no Release of the hub knows: the hub's memory may be older than the cluster (S39). */
export function unreleasedCommits(inClusters: readonly string[], releases: readonly Release[]): string[] {
  const known = new Set(releases.map(({ spec }) => spec.commit));
  return [...new Set(inClusters)].filter((commit) => !known.has(commit)).toSorted(byCode);
}
