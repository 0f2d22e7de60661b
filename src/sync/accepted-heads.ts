/** The heads that a person accepted although they do not descend from what was applied before. Pure. */
import type { Pipeline } from '../api/generated/types.ts';

export interface AcceptedHead {
  readonly commit: string;
  /** Commits that it replaced. */
  readonly replaces: readonly string[];
  /** A person accepted it by the command, and so its content as well as its history. In git, a commit accepts the history only. */
  readonly byPerson?: true;
}

/** Returns the heads that were accepted by the command, and in git. */
export function acceptedHeads({ spec }: Pick<Pipeline, 'spec'>): readonly AcceptedHead[] {
  const { acceptedHead, source } = spec;
  const heads: AcceptedHead[] = [];
  if (acceptedHead) {
    heads.push({ commit: acceptedHead.commit, replaces: acceptedHead.replaces, byPerson: true });
  }
  if (source.acceptHead !== undefined) heads.push({ commit: source.acceptHead, replaces: [] });
  return heads;
}

export function isHeadAccepted(pipeline: Pick<Pipeline, 'spec'>, commit: string | undefined): boolean {
  return acceptedHeads(pipeline).some((head) => head.commit === commit);
}
