/** Finds the commits that a head adds to the history of another commit. Reads only what was fetched. */
import { parseCommit } from '../http/objects.ts';
import type { CommitInfo, ObjectReader, RawObject } from '../transport.ts';

export interface RangeCommit {
  readonly info: CommitInfo;
  readonly raw: RawObject;
}

export interface SignedRange {
  /** The commits of the head that the history of `before` does not contain, the newest first. */
  readonly commits: readonly RangeCommit[];
  /** The commits that were read, with their parents: they reach back to where the range leaves the older history. */
  readonly parents: ReadonlyMap<string, readonly string[]>;
}

/** More commits at once are not verified. */
export const MAX_RANGE = 10_000;
/** Commits that one walk may read: wrong dates make it read far back. */
const MAX_WALK = 200_000;

interface Visit extends RangeCommit {
  isNew: boolean;
  isOld: boolean;
  isQueued: boolean;
}

interface Walk {
  readonly reader: ObjectReader;
  readonly canFetchMore: boolean;
  readonly visits: Map<string, Visit>;
  /** Sorted by time: the last is the newest. */
  readonly queue: Visit[];
}

export interface RangeQuestion {
  readonly head: string;
  readonly before: string;
  /** True: a commit that is missing can still be fetched. False: the server does not have it either. */
  readonly canFetchMore: boolean;
}

/**
 * Walks both histories, the newest commit first. A commit counts as old only when a path from `before` leads to it, so wrong dates may
 * add commits to the range, and take none out of it. Returns `unknown` when one of the two leads to a commit that was not fetched: what
 * is below it in the history of `before` would count as new.
 */
export async function findCommitRange(
  reader: ObjectReader,
  { head, before, canFetchMore }: RangeQuestion,
): Promise<SignedRange | 'unknown' | 'large'> {
  const walk: Walk = { reader, canFetchMore, visits: new Map(), queue: [] };
  if (!(await mark(walk, head, 'isNew')) || !(await mark(walk, before, 'isOld'))) return 'unknown';
  let oldest = Number.POSITIVE_INFINITY;
  while (!isComplete(walk, oldest)) {
    const next = walk.queue.pop();
    if (!next) break;
    next.isQueued = false;
    if (isOnlyNew(next)) oldest = Math.min(oldest, timeOf(next));
    if (!(await markParents(walk, next))) return 'unknown';
    if (walk.visits.size > MAX_WALK) return 'large';
  }
  return rangeOf(walk);
}

/** Continues below the range, too, where times overlap: a commit that looks new may be in the older history by another way. */
function isComplete({ queue }: Walk, oldest: number): boolean {
  const newest = queue.at(-1);
  return !newest || (timeOf(newest) < oldest && !queue.some(isOnlyNew));
}

async function markParents(walk: Walk, visit: Visit): Promise<boolean> {
  for (const parent of visit.info.parents) {
    if (visit.isOld && !(await mark(walk, parent, 'isOld')) && walk.canFetchMore) return false;
    if (visit.isNew && !(await mark(walk, parent, 'isNew')) && !visit.isOld) return false;
  }
  return true;
}

/** Returns false when the commit was not fetched. */
async function mark({ reader, visits, queue }: Walk, oid: string, flag: 'isNew' | 'isOld'): Promise<boolean> {
  const visit = visits.get(oid) ?? (await readVisit(reader, oid));
  if (!visit) return false;
  visits.set(oid, visit);
  if (visit[flag]) return true;
  visit[flag] = true;
  if (!visit.isQueued) queue.splice(positionIn(queue, timeOf(visit)), 0, visit);
  visit.isQueued = true;
  return true;
}

async function readVisit(reader: ObjectReader, oid: string): Promise<Visit | undefined> {
  const raw = await reader.read(oid);
  return raw && { info: parseCommit(oid, raw), raw, isNew: false, isOld: false, isQueued: false };
}

function positionIn(queue: readonly Visit[], time: number): number {
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const visit = queue[middle];
    if (visit && timeOf(visit) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rangeOf({ visits }: Walk): SignedRange | 'large' {
  const all = [...visits.values()];
  const commits = all.filter(isOnlyNew).toSorted((a, b) => timeOf(b) - timeOf(a));
  if (commits.length > MAX_RANGE) return 'large';
  return { commits, parents: new Map(all.map(({ info }) => [info.oid, info.parents])) };
}

function isOnlyNew({ isNew, isOld }: Visit): boolean {
  return isNew && !isOld;
}

function timeOf({ info }: Visit): number {
  return info.committedAt.getTime();
}
