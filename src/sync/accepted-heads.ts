/** The heads that a person accepted although they do not descend from what was applied before. Pure. */
import type { Pipeline } from '../api/generated/types.ts';

export interface AcceptedHead {
  readonly commit: string;
  /** Commits that it replaced. */
  readonly replaces: readonly string[];
}

/** Returns the heads that were accepted by the command, and in git. */
export function acceptedHeads({ spec }: Pick<Pipeline, 'spec'>): readonly AcceptedHead[] {
  const { acceptedHead, source } = spec;
  return [
    ...(acceptedHead ? [acceptedHead] : []),
    ...(source.acceptHead === undefined ? [] : [{ commit: source.acceptHead, replaces: [] }]),
  ];
}

export function isHeadAccepted(pipeline: Pick<Pipeline, 'spec'>, commit: string | undefined): boolean {
  return acceptedHeads(pipeline).some((head) => head.commit === commit);
}
