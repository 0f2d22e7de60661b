/** Finds changes that reach a stage although no cluster of an earlier stage ran them. Pure. */
import type { AcceptedCommit, TargetDigests } from '../../commits.ts';
import type { CommitHistory } from '../commit-history.ts';

export interface CommitRange {
  /** The commit that the stage runs; undefined before its first commit. */
  readonly from: string | undefined;
  readonly to: string;
}

/**
 * Returns the clusters in which a unit changes within the range by a commit that changes that unit in no cluster of the earlier
 * stages. A change that is reverted within the range does not count.
 */
export function unexercisedClusters(
  history: CommitHistory,
  { from, to }: CommitRange,
  clusters: readonly string[],
  earlier: readonly string[],
): readonly string[] {
  const commits = history.between(from, to).filter(({ targets }) => targets !== undefined);
  const last = commits.at(-1);
  if (!last || earlier.length === 0) return [];
  const before = history.commit(from);
  return clusters.filter((cluster) =>
    changedUnits(before, last, cluster).some(
      (unit) => !wasExercised({ before, commits, unit, cluster, earlier }),
    ),
  );
}

interface UnitChange {
  readonly before: AcceptedCommit | undefined;
  readonly commits: readonly AcceptedCommit[];
  readonly unit: string;
  readonly cluster: string;
  readonly earlier: readonly string[];
}

/** Tells whether each commit that changes the unit here also changes it in an earlier stage. */
function wasExercised({ before, commits, unit, cluster, earlier }: UnitChange): boolean {
  return commits.every((commit, index) => {
    const previous = index === 0 ? before : commits[index - 1];
    if (!hasChange(previous, commit, cluster, unit)) return true;
    return earlier.some((other) => hasChange(previous, commit, other, unit));
  });
}

function changedUnits(
  before: AcceptedCommit | undefined,
  after: AcceptedCommit,
  cluster: string,
): readonly string[] {
  const units = new Set([...unitDigests(before, cluster).keys(), ...unitDigests(after, cluster).keys()]);
  return [...units].filter((unit) => hasChange(before, after, cluster, unit));
}

function hasChange(
  before: AcceptedCommit | undefined,
  after: AcceptedCommit,
  cluster: string,
  unit: string,
): boolean {
  return unitDigests(before, cluster).get(unit) !== unitDigests(after, cluster).get(unit);
}

const NO_UNITS: TargetDigests['units'] = new Map();

function unitDigests(commit: AcceptedCommit | undefined, cluster: string): TargetDigests['units'] {
  return commit?.targets?.get(cluster)?.units ?? NO_UNITS;
}
