/**
 * Whether a head may replace the commit that was applied before. Pure.
 *
 * A head that does not descend from it (force-push, rewritten history, older commit, recreated branch) is held until a person
 * accepts exactly that commit. `git revert` creates a commit that descends.
 */
import type { Ancestry } from './transport.ts';

export interface AncestryCheck {
  /** The last commit that was applied; absent before the first. */
  readonly lastApplied?: string;
  readonly head: string;
  /** Relation of the head to `lastApplied`. Absent when it is unknown: then the head is not accepted. */
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
  if (lastApplied === head) return accepted('it is the applied commit');
  if (ancestry === 'descends') return accepted(`it descends from ${short(lastApplied)}`);
  if (acceptHead === head) {
    return accepted(`spec.source.acceptHead accepts it in place of ${short(lastApplied)}`);
  }
  if (ancestry === 'diverged' || ancestry === 'older') return held(lastApplied, head, ancestry);
  return {
    verdict: 'Unknown',
    because: `it is unknown whether ${short(head)} descends from the applied commit ${short(lastApplied)}`,
  };
}

function held(lastApplied: string, head: string, ancestry: 'diverged' | 'older'): AncestryVerdict {
  const relation = ancestry === 'older' ? 'is older than' : 'does not descend from';
  return {
    verdict: 'NotDescendant',
    because:
      `${short(head)} ${relation} the applied commit ${short(lastApplied)} (force-push?): ` +
      `push a commit that descends from it, or set spec.source.acceptHead to ${head}`,
  };
}

function accepted(because: string): AncestryVerdict {
  return { verdict: 'Accepted', because };
}

function short(oid: string): string {
  return oid.slice(0, 12);
}
