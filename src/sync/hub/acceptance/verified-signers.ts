/** Keeps who signed the accepted heads until each has its Release: an accepted head is not verified again. */
import { optional } from '../../../kube/objects/optional.ts';
import { EVERYBODY } from '../../commits.ts';
import { joinAuthors } from '../../git/signatures/authors.ts';

export interface HeadSigners {
  /** The accepted commit before it, from which on its commits were verified. */
  readonly before?: string;
  readonly signer?: string;
  /** Absent: its commits were not verified, because no signatures were asked for, or a person accepted the head. */
  readonly authors?: readonly string[];
}

export interface SignersSinceRelease {
  readonly signer?: string;
  readonly authors?: readonly string[];
}

export interface VerifiedSigners {
  put(head: string, signers: HeadSigners): void;
  /** Returns the signer of a head, and the authors of all commits since the newest one that has a Release. */
  get(head: string, hasRelease: (commit: string) => boolean): SignersSinceRelease;
}

/** Heads follow one another: older ones have a Release. */
const MAX_HEADS = 100;

export function createVerifiedSigners(): VerifiedSigners {
  const heads = new Map<string, HeadSigners>();
  return {
    put(head, signers) {
      heads.delete(head);
      heads.set(head, signers);
      const [oldest] = heads.keys();
      if (heads.size > MAX_HEADS && oldest !== undefined) heads.delete(oldest);
    },
    get(head, hasRelease) {
      const found = heads.get(head);
      if (!found) return {};
      return { ...optional('signer', found.signer), ...optional('authors', authorsSince(found, hasRelease)) };
    },
  };

  /** A head that was replaced before it got a Release is part of the next one: so are its authors. */
  function authorsSince(
    newest: HeadSigners,
    hasRelease: (commit: string) => boolean,
  ): readonly string[] | undefined {
    const all = new Set<string>();
    const visited = new Set<string>();
    let next: HeadSigners = newest;
    for (;;) {
      if (!next.authors) return undefined;
      for (const name of next.authors) all.add(name);
      const { before } = next;
      if (before === undefined || hasRelease(before)) return joinAuthors(all);
      const known = heads.get(before);
      // Forgotten: its authors could be anybody.
      if (!known || visited.has(before)) return [EVERYBODY];
      visited.add(before);
      next = known;
    }
  }
}
