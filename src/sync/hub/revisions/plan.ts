/** Decides which revisions of a cluster are kept, and which of the proven ones have to be read from git again. Pure. */
import type { Cluster, KeptRevision } from '../../../api/generated/types.ts';
import type { RenderedUnit } from '../../rendered.ts';

/** A kept revision as the index of its cluster lists it. */
export interface IndexedRevision extends KeptRevision {
  readonly units: readonly Pick<RenderedUnit, 'unit' | 'digest'>[];
}

/** As many as the status of a Cluster lists, and as proofs are kept: a return to them skips the soak. */
export const MAX_REVISIONS = 20;
/** Twenty revisions of a cluster with 5,000 objects, compressed. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Returns the revisions to keep, newest first. Content that is kept again moves to the front, with its newest commit. The newest
 * revision is kept, however large it is.
 */
export function revisionsToKeep(
  all: readonly IndexedRevision[],
  sizes: ReadonlyMap<string, number>,
): readonly IndexedRevision[] {
  const kept: IndexedRevision[] = [];
  const counted = new Set<string>();
  let bytes = 0;
  for (const revision of all.toSorted(newestFirst)) {
    if (kept.some(({ digest }) => digest === revision.digest)) continue;
    const added = revision.units.filter(({ digest }) => !counted.has(digest));
    bytes += added.reduce((sum, { digest }) => sum + (sizes.get(digest) ?? 0), 0);
    if (kept.length > 0 && (bytes > MAX_BYTES || kept.length === MAX_REVISIONS)) break;
    kept.push(revision);
    for (const { digest } of added) counted.add(digest);
  }
  return kept;
}

function newestFirst(a: KeptRevision, b: KeptRevision): number {
  return Date.parse(b.keptAt) - Date.parse(a.keptAt);
}

/** Returns what was proven on a cluster and is not kept: a new process has no files, or they cannot be opened. */
export function missingRevisions(
  cluster: Pick<Cluster, 'status'> | undefined,
  kept: readonly KeptRevision[] = [],
): readonly KeptRevision[] {
  const proven = cluster?.status?.sync?.proven ?? [];
  const known = new Set(kept.map(({ digest }) => digest));
  return proven.flatMap(({ digest, commit, provenAt }) =>
    digest === undefined || commit === undefined || provenAt === undefined || known.has(digest)
      ? []
      : [{ digest, commit, keptAt: provenAt }],
  );
}
