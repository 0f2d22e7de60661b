/** The accepted commits in their order, and what each renders to for a cluster. Pure. */
import type { Commit, TargetDigests } from './ports.ts';

/** What a cluster gets from a commit that renders nothing for it. */
export const NOTHING: TargetDigests = {
  digest: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', // of no bytes at all
  units: new Map(),
};

export interface History {
  readonly newest: Commit | undefined;
  /** Later is greater; -1 for a commit that is not among the accepted ones. */
  order(commit: string | undefined): number;
  /** Undefined while the commit is not rendered. */
  target(commit: string | undefined, cluster: string): TargetDigests | undefined;
  commit(id: string | undefined): Commit | undefined;
  /** The accepted commit before it. */
  before(id: string): Commit | undefined;
  /** After `from`, up to and with `to`, oldest first. */
  between(from: string | undefined, to: string): readonly Commit[];
}

export function historyOf(commits: readonly Commit[]): History {
  const orders = new Map(commits.map(({ id }, index) => [id, index]));
  const order = (id: string | undefined): number => (id === undefined ? -1 : (orders.get(id) ?? -1));
  return {
    newest: commits.at(-1),
    order,
    commit: (id) => commits[order(id)],
    target: (id, cluster) => {
      const targets = commits[order(id)]?.targets;
      return targets && (targets.get(cluster) ?? NOTHING);
    },
    before: (id) => commits[order(id) - 1],
    between: (from, to) => commits.slice(order(from) + 1, order(to) + 1),
  };
}
