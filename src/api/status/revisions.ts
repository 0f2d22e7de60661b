/** Finds a kept revision of a cluster by what a person types. Pure. */
import type { KeptRevision } from '../generated/types.ts';

/** A shorter prefix is a typing error rather than a name. */
const MIN_PREFIX = 7;

/** Returns the revisions whose commit or digest begins with the text: one, if it names a revision. */
export function findRevisions(kept: readonly KeptRevision[], text: string): readonly KeptRevision[] {
  const prefix = text.replace(/^sha256:/, '').toLowerCase();
  if (prefix.length < MIN_PREFIX) return [];
  return kept.filter(
    ({ commit, digest }) => commit.startsWith(prefix) || digest.replace('sha256:', '').startsWith(prefix),
  );
}
