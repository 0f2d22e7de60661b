/** The accepted commits of a Pipeline, oldest first, read from git, with what they render to. */
import type { Release } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { AcceptedCommit, TargetDigests } from '../commits.ts';
import type { CommitInfo, GitTransport } from '../git/transport.ts';
import { declaredApprovals } from '../promote/gates/declared-approvals.ts';
import { declaredClusters, HUB_TARGET, type Rendered } from '../rendered.ts';
import { countDeletes } from './count-changes.ts';
import type { RenderStore } from './render-store.ts';

export interface CommitLogOptions {
  readonly git: GitTransport;
  readonly ref: string;
  /** The name of the Pipeline, of which the approvals are read. */
  readonly pipeline: string;
  readonly renders: RenderStore;
  readonly log: Log;
}

export interface CommitLog {
  /** The mentioned commits in the history of the newest one, and all commits between them. Oldest first. */
  read(newest: string | undefined, mentioned: readonly string[]): Promise<readonly AcceptedCommit[]>;
}

/** The limit of the search for mentioned commits in the history. */
const MAX_WALK = 500;

export function createCommitLog({ git, ref, pipeline, renders, log }: CommitLogOptions): CommitLog {
  let last: { readonly key: string; readonly commits: readonly AcceptedCommit[] } | undefined;
  /** Rendered commits by the pair of the previous commit and their own: neither ever changes. */
  let renderedCommits = new Map<string, AcceptedCommit>();
  /** The commits of the last history: they never change. */
  let known: ReadonlyMap<string, CommitInfo> = new Map();

  return { read };

  async function read(
    newest: string | undefined,
    mentioned: readonly string[],
  ): Promise<readonly AcceptedCommit[]> {
    const all = [...new Set([...mentioned, ...(newest ? [newest] : [])])].toSorted(byCode);
    const key = JSON.stringify([newest, all]);
    if (last?.key !== key) last = { key, commits: await readCommits(newest, new Set(all)) };
    return last.commits;
  }

  /** Fetches only when something is missing: each question to git starts a process. */
  async function readHistory(
    newest: string | undefined,
    mentioned: ReadonlySet<string>,
  ): Promise<readonly CommitInfo[]> {
    const local = await walk(newest, mentioned);
    const missing = [...mentioned].filter((commit) => !local.some(({ oid }) => oid === commit));
    for (const commit of missing) await fetchIfPresent(commit);
    const history = missing.length === 0 ? local : await walk(newest, mentioned);
    known = new Map(history.map((info) => [info.oid, info]));
    return history;
  }

  /** A cluster may mention a commit that the repository no longer has: it is not part of the log. */
  async function fetchIfPresent(commit: string): Promise<void> {
    try {
      await git.ensure(commit, ref);
    } catch (error) {
      log.warn('commit not in the repository', { commit, error });
    }
  }

  async function readCommits(
    newest: string | undefined,
    mentioned: ReadonlySet<string>,
  ): Promise<readonly AcceptedCommit[]> {
    const commits: AcceptedCommit[] = [];
    let before: string | undefined;
    for (const info of selectCommits(await readHistory(newest, mentioned), mentioned)) {
      const commit = mentioned.has(info.oid) ? await withTargets(info, before) : toCommit(info);
      if (commit.targets) before = info.oid;
      commits.push(commit);
    }
    renderedCommits = new Map([...renderedCommits].filter(([, { id }]) => mentioned.has(id)));
    return commits;
  }

  async function withTargets(info: CommitInfo, before: string | undefined): Promise<AcceptedCommit> {
    const key = `${before ?? ''} ${info.oid}`;
    const commit = renderedCommits.get(key) ?? (await renderCommit(info, before));
    // Render failures are not cached: they may be transient.
    if (commit.targets) renderedCommits.set(key, commit);
    return commit;
  }

  async function renderCommit(info: CommitInfo, before: string | undefined): Promise<AcceptedCommit> {
    const rendered = await renders.getIfRenderable(info.oid);
    const previous = rendered && before ? await renders.getIfRenderable(before) : undefined;
    const deletes = rendered && previous && (await countDeletes(previous, rendered));
    const approvals = rendered && declaredApprovals(rendered, pipeline);
    return { ...toCommit(info, rendered, deletes), ...optional('approvals', approvals) };
  }

  /** Newest first, merges included, until every mentioned commit was found or the fetched history ends. */
  async function walk(newest: string | undefined, mentioned: ReadonlySet<string>): Promise<CommitInfo[]> {
    const found = new Map<string, CommitInfo>();
    const missing = new Set(mentioned);
    let pending = newest === undefined ? [] : [await readLocal(newest)].flatMap((info) => info ?? []);
    while (missing.size > 0 && found.size < MAX_WALK) {
      const [next, ...rest] = pending.toSorted((a, b) => b.committedAt.getTime() - a.committedAt.getTime());
      if (!next) break;
      found.set(next.oid, next);
      missing.delete(next.oid);
      const parents = next.parents.filter((oid) => !found.has(oid) && !rest.some((info) => info.oid === oid));
      pending = [...rest, ...(await Promise.all(parents.map(readLocal))).flatMap((info) => info ?? [])];
    }
    return [...found.values()];
  }

  /** Reads a local commit. Undefined beyond a shallow boundary: commits there are older than everything that is promoted. */
  async function readLocal(oid: string): Promise<CommitInfo | undefined> {
    return known.get(oid) ?? ((await git.has(oid)) ? git.commit(oid) : undefined);
  }
}

/** Pure. Oldest first, from the oldest mentioned commit. `history` is that of the newest commit, newest first. */
export function selectCommits(history: readonly CommitInfo[], mentioned: ReadonlySet<string>): CommitInfo[] {
  const oldest = history.findLastIndex(({ oid }) => mentioned.has(oid));
  return history.slice(0, oldest + 1).toReversed();
}

/** Returns the newest commit of a Pipeline with a Release: every accepted commit gets one. Pure. */
export function newestReleasedCommit(pipeline: string, releases: readonly Release[]): string | undefined {
  const own = releases.filter(({ spec }) => spec.pipeline === pipeline);
  const sorted = own.toSorted(
    (a, b) =>
      byCode(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      byCode(a.metadata.name, b.metadata.name),
  );
  return sorted.at(-1)?.spec.commit;
}

/** Returns the commits of clusters without a Release in the hub: a restored hub may be older than its clusters (S39). Pure. */
export function unreleasedCommits(clusterCommits: readonly string[], releases: readonly Release[]): string[] {
  const released = new Set(releases.map(({ spec }) => spec.commit));
  return [...new Set(clusterCommits)].filter((commit) => !released.has(commit)).toSorted(byCode);
}

function toCommit(info: CommitInfo, rendered?: Rendered, deletes?: number): AcceptedCommit {
  const [parent] = info.parents;
  return {
    id: info.oid,
    ...(parent ? { parent } : {}),
    author: info.author,
    subject: info.subject,
    committedAt: info.committedAt,
    ...(info.revertOf ? { revertOf: info.revertOf } : {}),
    ...(rendered
      ? {
          targets: digestsOf(rendered),
          ...optional('clusters', declaredClusters(rendered)),
          ...optional('deletes', deletes),
        }
      : {}),
  };
}

/** Returns the digests without the hub's own objects: those follow the newest accepted commit and are not promoted. */
function digestsOf({ targets }: Rendered): ReadonlyMap<string, TargetDigests> {
  return new Map(
    targets
      .filter(({ target }) => target !== HUB_TARGET)
      .map(({ target, digest, units }) => [
        target,
        { digest, units: new Map(units.map((unit) => [unit.unit, unit.digest])) },
      ]),
  );
}
