/** The accepted commits in order, and what each renders to for a cluster. Pure. */
import { type AcceptedCommit, EMPTY_TARGET, type TargetDigests } from '../commits.ts';

export interface CommitHistory {
  readonly newest: AcceptedCommit | undefined;
  /** Newer commits have greater numbers; -1 for a commit that is not accepted. */
  order(commit: string | undefined): number;
  /** Returns what a commit renders to for a cluster. Undefined while it is not rendered, and where it does not declare the cluster. */
  target(commit: string | undefined, cluster: string): TargetDigests | undefined;
  commit(id: string | undefined): AcceptedCommit | undefined;
  /** Returns the accepted commit before it. */
  previous(id: string): AcceptedCommit | undefined;
  /** Returns the commits after `from` up to and including `to`, oldest first. */
  between(from: string | undefined, to: string): readonly AcceptedCommit[];
}

/**
 * `managed`: the Clusters that the repository declares. A commit without such a Cluster is from before it was added, renamed
 * or restored: that is not a request to delete everything in it.
 */
export function createCommitHistory(
  commits: readonly AcceptedCommit[],
  managed: ReadonlySet<string> = new Set(),
): CommitHistory {
  const orders = new Map(commits.map(({ id }, index) => [id, index]));
  const order = (id: string | undefined): number => (id === undefined ? -1 : (orders.get(id) ?? -1));
  return {
    newest: commits.at(-1),
    order,
    commit: (id) => commits[order(id)],
    target: (id, cluster) => {
      const { targets, clusters } = commits[order(id)] ?? {};
      const isDeclared = !managed.has(cluster) || clusters?.has(cluster) !== false;
      return targets && (targets.get(cluster) ?? (isDeclared ? EMPTY_TARGET : undefined));
    },
    previous: (id) => commits[order(id) - 1],
    between: (from, to) => commits.slice(order(from) + 1, order(to) + 1),
  };
}
