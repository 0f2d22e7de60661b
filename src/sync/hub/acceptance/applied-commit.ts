/** Asks git whether a head may replace a commit that was applied to clusters. */
import { optional } from '../../../kube/objects/optional.ts';
import type { AcceptedHead } from '../../accepted-heads.ts';
import { type AncestryVerdict, checkAncestry, replacingHead } from '../../git/ancestry-guard.ts';
import { isGitError } from '../../git/errors.ts';
import type { Ancestry, GitTransport } from '../../git/transport.ts';

export interface AppliedCommitQuestion {
  readonly head: string;
  readonly lastApplied: string;
  /** True if the hub has accepted the commit: then it counts as replaced only where that is certain. */
  readonly isReleased: boolean;
  /** The heads that persons accepted. */
  readonly accepted: readonly AcceptedHead[];
}

/** Checks whether the head may replace the applied commit. Rejects when git cannot answer. */
export async function checkAppliedCommit(
  { git, ref }: { readonly git: Pick<GitTransport, 'ancestry'>; readonly ref: string },
  { head, lastApplied, isReleased, accepted }: AppliedCommitQuestion,
  signal?: AbortSignal,
): Promise<AncestryVerdict> {
  const ancestry = await git.ancestry({ ancestor: lastApplied, head, ref }, signal);
  const isOther = ancestry === 'older' || ancestry === 'diverged';
  const replaced = { commit: lastApplied, isReleased };
  const replacedBy = isOther ? await replacingHead(replaced, { head, accepted }, relate) : undefined;
  return checkAncestry({ lastApplied, head, ancestry, accepted, ...optional('replacedBy', replacedBy) });

  async function relate(ancestor: string, descendant: string): Promise<Ancestry | 'missing'> {
    try {
      return await git.ancestry({ ancestor, head: descendant, ref }, signal);
    } catch (error) {
      if (isGitError(error, 'NotFoundObject')) return 'missing';
      throw error;
    }
  }
}
