/** Reads from a Pipeline and its Secrets whose pull requests are planned, and where the plans are written. */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { fullRef } from '../git/repository-url.ts';
import { GitHostError } from '../report/git-host.ts';
import { type StatusTarget, statusTarget } from '../report/target.ts';

export interface PlanDestination extends StatusTarget {
  /** The branch that pull requests are for. */
  readonly branch: string;
  /** Whether pull requests from forks are planned. */
  readonly forks: boolean;
}

const BRANCHES = 'refs/heads/';

/** Returns undefined for a Pipeline that plans no pull requests. Throws GitHostError or SecretError. */
export function planDestination(
  pipeline: Pipeline,
  secrets: Pick<Store, 'get'>,
): PlanDestination | undefined {
  const { planComments, ref } = pipeline.spec.source;
  const target = planComments && statusTarget(pipeline, secrets);
  if (!target) return undefined;
  const branch = fullRef(ref);
  if (!branch.startsWith(BRANCHES)) {
    throw new GitHostError(
      `pull requests are for a branch, and ${ref} is not one: set spec.source.ref to refs/heads/NAME`,
    );
  }
  return {
    ...target,
    // The status of the commit itself has the name without the ending.
    project: { ...target.project, context: `${target.project.context}/plan` },
    address: `${target.address}/plan`,
    branch: branch.slice(BRANCHES.length),
    forks: planComments.forks,
  };
}
