/** Reads the accepted commits out of git, and what they render to. */
import type { Log } from '../../kube/log.ts';
import { byCode } from '../digest.ts';
import type { CommitInfo, GitTransport } from '../git/transport.ts';
import type { Commit } from '../promote/ports.ts';
import { commitOf, lineOf } from './line.ts';
import type { RenderStore } from './render-store.ts';

export interface CommitLineOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly renders: RenderStore;
  readonly log: Log;
}

/** How far back git is asked for what lies between the named commits. */
const MAX_WALK = 500;

/** Oldest first: the named commits, and what lies between them and the newest. */
export function commitLine({
  git,
  ref,
  renders,
  log,
}: CommitLineOptions): (newest: string | undefined, named: readonly string[]) => Promise<readonly Commit[]> {
  let known: { readonly key: string; readonly commits: readonly Commit[] } | undefined;

  return async (newest, named) => {
    const all = [...new Set([...named, ...(newest ? [newest] : [])])].toSorted(byCode);
    const key = JSON.stringify([newest, all]);
    if (known?.key !== key) known = { key, commits: await read(newest, all) };
    renders.keepOnly(new Set(all));
    return known.commits;
  };

  async function read(newest: string | undefined, all: readonly string[]): Promise<readonly Commit[]> {
    const infos = (await Promise.all(all.map(infoOf))).flatMap((info) => info ?? []);
    const line = lineOf(await walk(newest, new Set(all)), infos, newest);
    const rendered = new Map(
      await Promise.all(infos.map(async ({ oid }) => [oid, await renders.quietly(oid)] as const)),
    );
    const withContent = line.filter(({ oid }) => rendered.get(oid));
    return line.map((info) => {
      const before = withContent[withContent.indexOf(info) - 1];
      return commitOf(info, rendered.get(info.oid), before && rendered.get(before.oid));
    });
  }

  async function infoOf(commit: string): Promise<CommitInfo | undefined> {
    try {
      await git.ensure(commit, ref);
      return await git.commit(commit);
    } catch (error) {
      log.warn('commit not readable', { commit, error });
      return undefined;
    }
  }

  /** Newest first, until everything that is named was met, or git knows no more. */
  async function walk(from: string | undefined, wanted: ReadonlySet<string>): Promise<CommitInfo[]> {
    const found: CommitInfo[] = [];
    const open = new Set(wanted);
    let next = from;
    while (next !== undefined && open.size > 0 && found.length < MAX_WALK && (await git.has(next))) {
      const info: CommitInfo = await git.commit(next);
      found.push(info);
      open.delete(next);
      next = info.parents[0];
    }
    return found;
  }
}
