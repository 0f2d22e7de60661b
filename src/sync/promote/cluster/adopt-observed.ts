/** Adopts what the inventory in a cluster names, where that is newer than what the hub has recorded. Pure. */
import type { ClusterSync } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { CommitHistory } from '../commit-history.ts';
import type { ClusterSnapshot } from '../snapshot.ts';

/**
 * Returns the record with the newest commit of the inventory, which wins over an older record of the hub: a hub that was restored
 * from a backup must not roll clusters back. The way in which the cluster got there is unknown, so it soaks again, even if the
 * content is what the hub has recorded: it may have run other content in between.
 */
export function adoptObserved(
  sync: ClusterSync,
  { cluster, report }: ClusterSnapshot,
  history: CommitHistory,
  now: Date,
): ClusterSync {
  const newest = newestCommit(report?.commits, history);
  if (newest === undefined || history.order(newest) <= history.order(sync.commit)) return sync;
  const digest = history.target(newest, cluster.metadata.name)?.digest;
  const { release: _release, stage: _stage, renderedDigest: _digest, ...rest } = sync;
  const soak = { startedAt: now.toISOString(), clocks: [] };
  return { ...rest, commit: newest, ...optional('renderedDigest', digest), soak };
}

/** Tells whether the newest observed commit has the recorded content, even under another name. */
export function hasObservedTarget(
  { commit, renderedDigest }: ClusterSync,
  { cluster, report }: ClusterSnapshot,
  history: CommitHistory,
): boolean {
  const newest = newestCommit(report?.commits, history);
  if (newest === undefined || renderedDigest === undefined) return false;
  return newest === commit || history.target(newest, cluster.metadata.name)?.digest === renderedDigest;
}

function newestCommit(commits: readonly string[] | undefined, history: CommitHistory): string | undefined {
  return commits?.toSorted((a, b) => history.order(b) - history.order(a))[0];
}
