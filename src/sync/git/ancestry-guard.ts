/**
 * The history guard: whether a head may follow what was applied before. Pure.
 *
 * A head that does not descend from it (a forced push, a rewritten history, an older commit, another branch of the same name) is
 * held until a person accepts exactly that commit. `git revert` is a commit like any other, and descends.
 */
import type { Ancestry } from './transport.ts';

export interface AncestryCheck {
  /** The last commit that was applied anywhere; absent before the first. */
  readonly lastApplied?: string;
  readonly head: string;
  /** How the head stands to `lastApplied`. Absent when nobody could say: then nothing is accepted. */
  readonly ancestry?: Ancestry;
  /** `Pipeline.spec.source.acceptHead`. */
  readonly acceptHead?: string;
}

export interface AncestryVerdict {
  readonly verdict: 'Accepted' | 'NotDescendant' | 'Unknown';
  readonly because: string;
}

export function checkAncestry({ lastApplied, head, ancestry, acceptHead }: AncestryCheck): AncestryVerdict {
  if (lastApplied === undefined) return accepted('it is the first commit');
  if (lastApplied === head) return accepted('it is the commit that is applied');
  if (ancestry === 'descends') return accepted(`it descends from ${short(lastApplied)}`);
  if (acceptHead === head) {
    return accepted(`a person accepted it in place of ${short(lastApplied)} (spec.source.acceptHead)`);
  }
  if (ancestry === 'diverged' || ancestry === 'older') return held(lastApplied, head, ancestry);
  return {
    verdict: 'Unknown',
    because: `how ${short(head)} stands to ${short(lastApplied)}, which is applied, is not known yet`,
  };
}

function held(lastApplied: string, head: string, ancestry: 'diverged' | 'older'): AncestryVerdict {
  const what = ancestry === 'older' ? 'is older than' : 'does not descend from';
  return {
    verdict: 'NotDescendant',
    because:
      `${short(head)} ${what} ${short(lastApplied)}, which is applied (a forced push?): ` +
      `push a commit that descends from it, or set spec.source.acceptHead to ${head}`,
  };
}

function accepted(because: string): AncestryVerdict {
  return { verdict: 'Accepted', because };
}

function short(oid: string): string {
  return oid.slice(0, 12);
}
