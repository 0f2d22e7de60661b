/**
 * Decides whether a head may replace the commit that was applied before. Pure.
 *
 * A head that does not descend from it (force-push, rewritten history, older commit, recreated branch) is held until a person
 * accepts exactly that commit. `git revert` creates a commit that descends.
 */
import type { AcceptedHead } from '../accepted-heads.ts';
import type { Ancestry } from './transport.ts';

export interface AncestryCheck {
  /** The last commit that was applied; absent before the first. */
  readonly lastApplied?: string;
  readonly head: string;
  /** Relation of the head to `lastApplied`. Absent when it is unknown: then the head is not accepted. */
  readonly ancestry?: Ancestry;
  /** The heads that persons accepted. */
  readonly accepted?: readonly AcceptedHead[];
  /** An accepted head that replaced `lastApplied`, and that the head descends from or is. */
  readonly replacedBy?: string;
}

export interface AncestryVerdict {
  readonly verdict: 'Accepted' | 'NotDescendant' | 'Unknown';
  readonly because: string;
}

export function checkAncestry(check: AncestryCheck): AncestryVerdict {
  const { lastApplied, head, ancestry } = check;
  if (lastApplied === undefined) return accepted('it is the first commit');
  if (lastApplied === head) return accepted('it is the applied commit');
  if (ancestry === 'descends') return accepted(`it descends from ${short(lastApplied)}`);
  const byPerson = acceptedByPerson(check);
  if (byPerson) return accepted(`${byPerson} in place of ${short(lastApplied)}`);
  if (ancestry === 'diverged' || ancestry === 'older') return held(lastApplied, head, ancestry);
  return {
    verdict: 'Unknown',
    because: `it is unknown whether ${short(head)} descends from the applied commit ${short(lastApplied)}`,
  };
}

function acceptedByPerson({ head, accepted: heads = [], replacedBy }: AncestryCheck): string | undefined {
  if (heads.some(({ commit }) => commit === head)) return 'a person accepted it';
  return replacedBy === undefined ? undefined : `a person accepted ${short(replacedBy)}`;
}

function held(lastApplied: string, head: string, ancestry: 'diverged' | 'older'): AncestryVerdict {
  const relation = ancestry === 'older' ? 'is older than' : 'does not descend from';
  return {
    verdict: 'NotDescendant',
    because:
      `${short(head)} ${relation} the applied commit ${short(lastApplied)} (force-push?): ` +
      `push a commit that descends from it, or run: kubenode release accept-head ${head}`,
  };
}

function accepted(because: string): AncestryVerdict {
  return { verdict: 'Accepted', because };
}

function short(oid: string): string {
  return oid.slice(0, 12);
}

/** Reads the relation of two commits. It is `missing` if the repository does not have the descendant any more. */
type Relate = (ancestor: string, descendant: string) => Promise<Ancestry | 'missing'>;

export interface ReplacedCommit {
  readonly commit: string;
  /** True if the hub accepted the commit: then it counts as replaced only where that is certain. */
  readonly isReleased: boolean;
}

/**
 * Returns the accepted head that replaces a commit, so that the commit does not count any more: the head continues it, and the
 * commit is not a later one of it. Inventories name replaced commits for as long as their objects do not change, long after their
 * Releases.
 */
export async function replacingHead(
  commit: ReplacedCommit,
  { head, accepted: heads }: { readonly head: string; readonly accepted: readonly AcceptedHead[] },
  relate: Relate,
): Promise<string | undefined> {
  for (const each of heads) {
    const continues = each.commit === head || (await relate(each.commit, head)) === 'descends';
    if (continues && (await isReplaced(each, commit, relate))) return each.commit;
  }
  return undefined;
}

async function isReplaced(
  { commit: newHead, replaces }: AcceptedHead,
  { commit, isReleased }: ReplacedCommit,
  relate: Relate,
): Promise<boolean> {
  if (commit === newHead) return false;
  if (replaces.includes(commit)) return true;
  const relation = await relate(newHead, commit);
  if (relation === 'missing') return !isReleased;
  if (relation !== 'descends') return true;
  // An older head was accepted: what descends from it was replaced as far as it was applied.
  for (const last of replaces) if ((await relate(commit, last)) === 'descends') return true;
  return false;
}
