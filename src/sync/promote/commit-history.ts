/** The accepted commits in order, and what each renders to for a cluster. Pure. */
import { type AcceptedCommit, EMPTY_TARGET, type TargetDigests } from '../commits.ts';

export interface CommitHistory {
  readonly newest: AcceptedCommit | undefined;
  /** Newer commits have greater numbers; -1 for a commit that is not accepted. */
  order(commit: string | undefined): number;
  /** Undefined while the commit is not rendered. */
  target(commit: string | undefined, cluster: string): TargetDigests | undefined;
  commit(id: string | undefined): AcceptedCommit | undefined;
  /** The accepted commit before it. */
  previous(id: string): AcceptedCommit | undefined;
  /** The commits after `from` up to and including `to`, oldest first. */
  between(from: string | undefined, to: string): readonly AcceptedCommit[];
}

export function createCommitHistory(commits: readonly AcceptedCommit[]): CommitHistory {
  const orders = new Map(commits.map(({ id }, index) => [id, index]));
  const order = (id: string | undefined): number => (id === undefined ? -1 : (orders.get(id) ?? -1));
  return {
    newest: commits.at(-1),
    order,
    commit: (id) => commits[order(id)],
    target: (id, cluster) => {
      const targets = commits[order(id)]?.targets;
      return targets && (targets.get(cluster) ?? EMPTY_TARGET);
    },
    previous: (id) => commits[order(id) - 1],
    between: (from, to) => commits.slice(order(from) + 1, order(to) + 1),
  };
}
