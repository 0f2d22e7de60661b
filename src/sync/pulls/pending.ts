/** Keeps the plan that is not at the git host yet, so that a host that fails does not make us plan it again. */
import type { PullRequest } from './hosts/adapter.ts';

interface PendingPlan<T> {
  readonly key: string;
  readonly pull: PullRequest;
  readonly planned: T;
}

export interface PendingPlans<T> {
  /** Returns the plan of that head against that base, which `plan` makes if it is not kept. */
  get(pull: PullRequest, base: string, plan: () => Promise<T>): Promise<T>;
  /** Returns the pull request of the plan that is kept, if it is still open with that head. */
  pull(open: readonly PullRequest[]): PullRequest | undefined;
  forget(): void;
}

export function createPendingPlans<T>(): PendingPlans<T> {
  let kept: PendingPlan<T> | undefined;
  return {
    async get(pull, base, plan) {
      const key = `${pull.number} ${pull.head} ${base}`;
      if (kept?.key !== key) {
        kept = undefined;
        kept = { key, pull, planned: await plan() };
      }
      return kept.planned;
    },
    pull: (open) => open.find(({ number, head }) => number === kept?.pull.number && head === kept.pull.head),
    forget() {
      kept = undefined;
    },
  };
}
