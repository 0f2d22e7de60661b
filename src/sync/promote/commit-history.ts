/** The accepted commits in their order, and what each renders to for a cluster. Pure. */
import { type AcceptedCommit, EMPTY_TARGET, type TargetDigests } from '../commits.ts';

export interface History {
  readonly newest: AcceptedCommit | undefined;
  /** Later is greater; -1 for a commit that is not among the accepted ones. */
  order(commit: string | undefined): number;
  /** Undefined while the commit is not rendered. */
  target(commit: string | undefined, cluster: string): TargetDigests | undefined;
  commit(id: string | undefined): AcceptedCommit | undefined;
  /** The accepted commit before it. */
  before(id: string): AcceptedCommit | undefined;
  /** After `from`, up to and with `to`, oldest first. */
  between(from: string | undefined, to: string): readonly AcceptedCommit[];
}

export function historyOf(commits: readonly AcceptedCommit[]): History {
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
    before: (id) => commits[order(id) - 1],
    between: (from, to) => commits.slice(order(from) + 1, order(to) + 1),
  };
}
