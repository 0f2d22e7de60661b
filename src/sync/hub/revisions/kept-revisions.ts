/**
 * Keeps what the clusters ran last, so that `kubenode rollback` needs no git: each content that is applied, and what was proven before
 * and is missing here. An error costs a revision, and never an apply.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Cluster, KeptRevision } from '../../../api/generated/types.ts';
import type { Store } from '../../../kube/cache/store.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import type { ClusterAssignment } from '../../cluster-report.ts';
import type { RenderedTarget } from '../../rendered.ts';
import { clusterFolder, createFolderSweep } from './cluster-folders.ts';
import { revisionKey } from './key.ts';
import { type IndexedRevision, missingRevisions } from './plan.ts';
import { createRevisionFiles, type RevisionFiles } from './revision-files.ts';

export interface KeptRevisionsOptions {
  /** The folder of all clusters of this hub. */
  readonly folder: string;
  readonly hubUID: string;
  readonly clusters: Pick<Store<Cluster>, 'get'>;
  readonly secrets: Pick<Store, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly randomBytes: (bytes: number) => Uint8Array;
}

export interface KeptRevisions {
  /** Returns the target with a source of content that keeps what is applied, and that reads a rollback from the kept revisions. */
  serve(cluster: string, target: ClusterAssignment): ClusterAssignment;
  /** Returns what is kept for the cluster. Undefined until that was read. */
  list(cluster: string): readonly KeptRevision[] | undefined;
  /** Forgets the clusters that are not among these, which the hub has, and removes what is kept for them. */
  retain(clusters: readonly string[]): void;
  close(): Promise<void>;
}

type Content = RenderedTarget | undefined;
type FilesAct<T> = (files: RevisionFiles) => Promise<T>;

/** How often what is missing is read from git: a repository that did not answer may answer now. */
const FILL_MS = 600_000;

export function createKeptRevisions(options: KeptRevisionsOptions): KeptRevisions {
  const { clusters, clock, log } = options;
  const lists = new Map<string, readonly IndexedRevision[]>();
  const fills = new Map<string, { readonly startedMs: number; readonly work: Promise<void> }>();
  /** One writer of a folder, and one reader: a file is not removed while it is read. */
  const queue = new PQueue({ concurrency: 1 });
  const sweep = createFolderSweep({ ...options, folder: join(options.folder, options.hubUID), queue });
  let reported: string | undefined;
  let isClosed = false;

  return {
    serve: (cluster, target) => ({ ...target, content: (commit) => contentOf(cluster, target, commit) }),
    list: (cluster) => lists.get(cluster)?.map(({ commit, digest, keptAt }) => ({ commit, digest, keptAt })),
    retain(names) {
      forgetOthers(lists, names);
      if (!isClosed) sweep(names);
    },
    async close() {
      isClosed = true;
      await Promise.all([...fills.values()].map(({ work }) => work));
      await queue.onIdle();
    },
  };

  async function contentOf(cluster: string, target: ClusterAssignment, commit: string): Promise<Content> {
    if (target.isRollback) return (await readKept(cluster, target, commit)) ?? target.content(commit);
    const content = await target.content(commit);
    if (content && isApplied(target, commit, content)) {
      await keep(cluster, commit, content);
      // Without a key nothing is kept: what is rendered for it would be lost.
      if (lists.has(cluster)) startFill(cluster, target);
    }
    return content;
  }

  async function keep(cluster: string, commit: string, content: RenderedTarget): Promise<void> {
    const [newest] = lists.get(cluster) ?? [];
    if (newest?.digest === content.digest && newest.commit === commit) return;
    await put(cluster, { commit, digest: content.digest, keptAt: notBefore(newest, clock.now()) }, content);
  }

  /** Reads also an earlier commit here first: git may not answer for minutes. */
  async function readKept(cluster: string, target: ClusterAssignment, commit: string): Promise<Content> {
    return attempt(cluster, async (files) => {
      const kept = await files.list();
      lists.set(cluster, kept);
      const found = kept.find((each) => isAsked(each, target, commit));
      return found && files.read(found, cluster);
    });
  }

  async function put(cluster: string, revision: KeptRevision, content: RenderedTarget): Promise<void> {
    await attempt(cluster, async (files) => void lists.set(cluster, await files.put(revision, content)));
  }

  function startFill(cluster: string, target: ClusterAssignment): void {
    const startedMs = clock.monotonicMs();
    const before = fills.get(cluster);
    if (isClosed || (before && startedMs - before.startedMs < FILL_MS)) return;
    fills.set(cluster, { startedMs, work: fill(cluster, target) });
  }

  /** Reads from git what was proven here and is not kept. */
  async function fill(cluster: string, target: ClusterAssignment): Promise<void> {
    for (const revision of missingRevisions(clusters.get(cluster), lists.get(cluster))) {
      if (isClosed) return;
      try {
        const content = await target.content(revision.commit);
        if (content?.digest !== revision.digest) continue;
        await put(cluster, revision, content);
        // It did not fit, and the others are older.
        if (!lists.get(cluster)?.some(({ digest }) => digest === revision.digest)) return;
      } catch (error) {
        log.warn('proven revision not read', { cluster, commit: revision.commit, error });
      }
    }
  }

  async function attempt<T>(cluster: string, act: FilesAct<T>): Promise<T | undefined> {
    try {
      const done = await queue.add(() => act(revisionFiles(options, cluster)));
      reported = undefined;
      return done;
    } catch (error) {
      // Without a key nothing is kept, and every reconcile finds that again.
      const message = messageOf(error);
      if (message !== reported) log.warn('revisions not kept', { cluster, error });
      reported = message;
      return undefined;
    }
  }
}

/** The content that is assigned is asked for by its digest: another commit may have brought it here. */
function isAsked(
  kept: KeptRevision,
  { commit: assigned, digest }: ClusterAssignment,
  commit: string,
): boolean {
  return commit === assigned && digest !== undefined ? kept.digest === digest : kept.commit === commit;
}

function forgetOthers(known: Map<string, unknown>, names: readonly string[]): void {
  for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
}

/** Also after the clock was set back, what is applied now is the newest. */
function notBefore(newest: KeptRevision | undefined, now: Date): string {
  return newest && Date.parse(newest.keptAt) > +now ? newest.keptAt : now.toISOString();
}

function isApplied(target: ClusterAssignment, commit: string, { digest }: RenderedTarget): boolean {
  return target.mode === 'Apply' && commit === target.commit && digest === target.digest;
}

function revisionFiles(
  { folder, hubUID, secrets, randomBytes }: KeptRevisionsOptions,
  cluster: string,
): RevisionFiles {
  return createRevisionFiles({
    folder: join(folder, hubUID, clusterFolder(cluster)),
    scope: `${hubUID}/${cluster}`,
    key: () => revisionKey(secrets),
    random: randomBytes,
  });
}
