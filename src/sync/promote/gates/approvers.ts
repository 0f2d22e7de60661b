/**
 * Decides whether another person approved a plan than those who wrote it. Releases keep who signed what, and which approvals each commit
 * declares. Pure.
 */
import type { Release } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { EVERYBODY } from '../../commits.ts';
import { type OrderedRelease, releasesByTime, stageCurrent } from '../release/order.ts';
import { isApproved } from './strictest.ts';

export interface ApprovalQuestion {
  readonly stage: string;
  /** The digest of the plan that `to` has now. */
  readonly planDigest: string;
  /** The Release that the stage is on. Undefined before its first commit. */
  readonly from: OrderedRelease | undefined;
  readonly to: OrderedRelease;
  readonly releases: readonly OrderedRelease[];
}

/** Returns why the approval does not count as that of another person; undefined if it does. */
export function approverProblem(question: ApprovalQuestion): string | undefined {
  const bringer = findApproving(question)?.release;
  const approvers = bringer?.spec.authors ?? [];
  if (!bringer || approvers.length === 0) return UNKNOWN_APPROVER;
  for (const { release } of changingReleases(question)) {
    const same = samePerson(approvers, peopleOf(release));
    if (same !== undefined) return sameText(same, release, bringer);
  }
  return undefined;
}

const UNKNOWN_APPROVER =
  'it is not known who signed the commit that approves it: approve it again, in a signed commit that is pushed alone';

function sameText(person: string, changed: Release, approving: Release): string {
  return (
    `${person} has part in commit ${changed.spec.commit.slice(0, SHORT)} and in its approval, commit ` +
    `${approving.spec.commit.slice(0, SHORT)}: let another person approve it, in a commit that is pushed alone`
  );
}

const SHORT = 12;

/** Returns the Release whose commits added the approval. Undefined if it is not known. */
export function findApproving({
  stage,
  planDigest,
  releases,
}: Pick<ApprovalQuestion, 'stage' | 'planDigest' | 'releases'>): OrderedRelease | undefined {
  let found: OrderedRelease | undefined;
  for (const each of releases.toReversed()) {
    const declared = each.release.spec.approvals;
    // Made by an earlier version: whether it had the approval is unknown.
    if (!declared) return undefined;
    if (!isApproved(declared, { stage, planDigest })) return found;
    found = each;
  }
  return undefined;
}

/**
 * Returns the Releases that the stage moves over, up to the one that it moves to, and that change content. A commit that only approves
 * changes none: who signs it has no part in what it approves.
 */
export function changingReleases({
  from,
  to,
  releases,
}: Pick<ApprovalQuestion, 'from' | 'to' | 'releases'>): readonly OrderedRelease[] {
  const [first, last] = [from === undefined ? 0 : releases.indexOf(from) + 1, releases.indexOf(to)];
  return releases.filter(({ release }, index) => {
    const before = releases[index - 1]?.release.spec.plan.digest;
    return index >= first && index <= last && release.spec.plan.digest !== before;
  });
}

/**
 * Returns everybody who has part in the commits of a Release. Commits without verified signatures are of those whom they name: they were
 * accepted when no signatures were required, or by a person.
 */
export function peopleOf({ spec }: Pick<Release, 'spec'>): readonly string[] {
  const { authors, author, signer } = spec;
  return authors ?? [author, signer].flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]));
}

function samePerson(approvers: readonly string[], authors: readonly string[]): string | undefined {
  if (approvers.includes(EVERYBODY) || authors.includes(EVERYBODY)) return 'somebody who is not known';
  return approvers.find((name) => authors.includes(name));
}

/**
 * Returns everybody whose approval of a Release does not count as that of another person. Without the commits in git, the Releases are
 * ordered by the times at which they were made.
 */
export function excludedApprovers(
  { metadata, spec }: Release,
  stage: string,
  releases: readonly Release[],
): readonly string[] {
  const own = releases.filter((each) => each.spec.pipeline === spec.pipeline);
  const ordered = releasesByTime(own);
  const to = ordered.find(({ name }) => name === metadata.name);
  if (!to) return [];
  const { release: from } = stageCurrent(ordered, stage);
  const people = changingReleases({ from, to, releases: ordered }).flatMap(({ release }) =>
    peopleOf(release),
  );
  return [...new Set(people)].toSorted(byCode);
}
