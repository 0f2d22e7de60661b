/** Changes that reach a stage without any earlier stage having run them. Pure. */

import type { AcceptedCommit, TargetDigests } from '../../commits.ts';
import type { History } from '../commit-history.ts';

export interface Range {
  /** What the stage runs, or nothing yet. */
  readonly from: string | undefined;
  readonly to: string;
}

/**
 * The clusters of a stage in which a unit changes within the range, by a commit that does not change that unit in any
 * cluster of the stages before. What is taken back within the range does not count.
 */
export function unexercisedIn(
  history: History,
  { from, to }: Range,
  clusters: readonly string[],
  earlier: readonly string[],
): readonly string[] {
  const commits = history.between(from, to).filter(({ targets }) => targets !== undefined);
  const last = commits.at(-1);
  if (!last || earlier.length === 0) return [];
  const before = history.commit(from);
  return clusters.filter((cluster) =>
    changedUnits(before, last, cluster).some((unit) => !wasRun({ before, commits, unit, cluster, earlier })),
  );
}

interface Question {
  readonly before: AcceptedCommit | undefined;
  readonly commits: readonly AcceptedCommit[];
  readonly unit: string;
  readonly cluster: string;
  readonly earlier: readonly string[];
}

/** Each commit that changes the unit here changes it in an earlier stage as well. */
function wasRun({ before, commits, unit, cluster, earlier }: Question): boolean {
  return commits.every((commit, index) => {
    const previous = index === 0 ? before : commits[index - 1];
    if (!changes(previous, commit, cluster, unit)) return true;
    return earlier.some((other) => changes(previous, commit, other, unit));
  });
}

function changedUnits(
  before: AcceptedCommit | undefined,
  after: AcceptedCommit,
  cluster: string,
): readonly string[] {
  const units = new Set([...unitsOf(before, cluster).keys(), ...unitsOf(after, cluster).keys()]);
  return [...units].filter((unit) => changes(before, after, cluster, unit));
}

function changes(
  before: AcceptedCommit | undefined,
  after: AcceptedCommit,
  cluster: string,
  unit: string,
): boolean {
  return unitsOf(before, cluster).get(unit) !== unitsOf(after, cluster).get(unit);
}

const NONE: TargetDigests['units'] = new Map();

function unitsOf(commit: AcceptedCommit | undefined, cluster: string): TargetDigests['units'] {
  return commit?.targets?.get(cluster)?.units ?? NONE;
}
