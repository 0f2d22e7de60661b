/** Reads the accepted commits out of git, and what they render to. */

import { byCode } from '../../kube/objects/digest.ts';
import type { Log } from '../../kube/process/log.ts';
import type { AcceptedCommit } from '../commits.ts';
import type { CommitInfo, GitTransport } from '../git/transport.ts';
import { selectCommits, toCommit } from './line.ts';
import type { RenderStore } from './render-store.ts';

export interface CommitLogOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly renders: RenderStore;
  readonly log: Log;
}

/** How far back git is asked for what lies between the named commits. */
const MAX_WALK = 500;

/** Oldest first: the named commits, and what lies between them and the newest. */
export function createCommitLog({
  git,
  ref,
  renders,
  log,
}: CommitLogOptions): (
  newest: string | undefined,
  named: readonly string[],
) => Promise<readonly AcceptedCommit[]> {
  let known: { readonly key: string; readonly commits: readonly AcceptedCommit[] } | undefined;
  /** What was read of a commit beside the one before it; neither ever changes. */
  let parts = new Map<string, AcceptedCommit>();

  return async (newest, named) => {
    const all = [...new Set([...named, ...(newest ? [newest] : [])])].toSorted(byCode);
    const key = JSON.stringify([newest, all]);
    if (known?.key !== key) {
      for (const commit of all) await ensured(commit);
      known = { key, commits: await read(newest, all) };
    }
    return known.commits;
  };

  /** What a cluster names and the repository has lost is no commit of this line. */
  async function ensured(commit: string): Promise<void> {
    try {
      await git.ensure(commit, ref);
    } catch (error) {
      log.warn('commit not in the repository', { commit, error });
    }
  }

  async function read(
    newest: string | undefined,
    all: readonly string[],
  ): Promise<readonly AcceptedCommit[]> {
    const named = new Set(all);
    const line = selectCommits(await walk(newest, named), named);
    const commits: AcceptedCommit[] = [];
    let before: string | undefined;
    for (const info of line) {
      const commit = named.has(info.oid) ? await withContent(info, before) : toCommit(info);
      if (commit.targets) before = info.oid;
      commits.push(commit);
    }
    parts = new Map([...parts].filter(([, { id }]) => named.has(id)));
    return commits;
  }

  async function withContent(info: CommitInfo, before: string | undefined): Promise<AcceptedCommit> {
    const key = `${before ?? ''} ${info.oid}`;
    const part = parts.get(key) ?? (await readPart(info, before));
    // What does not render today may do so tomorrow.
    if (part.targets) parts.set(key, part);
    return part;
  }

  async function readPart(info: CommitInfo, before: string | undefined): Promise<AcceptedCommit> {
    const content = await renders.quietly(info.oid);
    return toCommit(info, content, content && before ? await renders.quietly(before) : undefined);
  }

  /** Newest first, merges included, until everything that is named was met, or git knows no more. */
  async function walk(newest: string | undefined, named: ReadonlySet<string>): Promise<CommitInfo[]> {
    const found = new Map<string, CommitInfo>();
    const missing = new Set(named);
    let edge = newest === undefined ? [] : [await commitAt(newest)].flatMap((info) => info ?? []);
    while (missing.size > 0 && found.size < MAX_WALK) {
      const [next, ...rest] = edge.toSorted((a, b) => b.committedAt.getTime() - a.committedAt.getTime());
      if (!next) break;
      found.set(next.oid, next);
      missing.delete(next.oid);
      const parents = next.parents.filter((oid) => !found.has(oid) && !rest.some((info) => info.oid === oid));
      edge = [...rest, ...(await Promise.all(parents.map(commitAt))).flatMap((info) => info ?? [])];
    }
    return [...found.values()];
  }

  /** Nothing beyond a shallow boundary: what lies there is older than all that is promoted. */
  async function commitAt(oid: string): Promise<CommitInfo | undefined> {
    return (await git.has(oid)) ? git.commit(oid) : undefined;
  }
}
