/**
 * Renders the commits that another process promotes. The repository is opened when needed and not polled: which commits are
 * accepted is recorded in the hub.
 */
import { join } from 'node:path';
import type { Pipeline } from '../../../api/generated/types.ts';
import type { Store } from '../../../kube/cache/store.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { isHeadAccepted } from '../../accepted-heads.ts';
import { isGitError } from '../../git/errors.ts';
import type { GitTransport } from '../../git/transport.ts';
import type { CommitRenderer } from '../../render/renderer.ts';
import type { RenderedTarget } from '../../rendered.ts';
import { contentFor } from '../pipeline-source.ts';
import { createRenderStore, type RenderStore } from '../render-store.ts';
import { openRepository, repositoryVersion } from '../repository.ts';

export interface ContentReaderOptions {
  readonly secrets: Store;
  readonly renderer: CommitRenderer;
  readonly gitFolder: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AssignedContent {
  readonly cluster: string;
  readonly commit: string;
  /** The commits that the inventory in the cluster names. */
  readonly present: readonly string[];
}

export interface ContentReader {
  /**
   * Rejects when the cluster runs a newer commit than the assigned one: the hub was restored from a backup, and promotion
   * has to adopt the newer commit first.
   */
  read(pipeline: Pipeline, assigned: AssignedContent): Promise<RenderedTarget | undefined>;
  /** The next read opens the repository again. */
  close(): Promise<void>;
}

interface OpenRepository {
  readonly version: string;
  readonly git: GitTransport;
  /** Nothing can be read before the first fetch. */
  readonly fetched: Promise<string>;
  readonly renders: RenderStore;
  /** Pairs of commits that were compared: a history never changes. */
  readonly compared: Set<string>;
}

export function createContentReader(options: ContentReaderOptions): ContentReader {
  let open: OpenRepository | undefined;
  return {
    async read(pipeline, assigned) {
      try {
        return await read(pipeline, assigned);
      } catch (error) {
        // The local repository may be damaged or outdated: the next read fetches again.
        await close();
        throw error;
      }
    },
    close,
  };

  async function read(
    pipeline: Pipeline,
    { cluster, commit, present }: AssignedContent,
  ): Promise<RenderedTarget | undefined> {
    const repository = await opened(pipeline);
    await repository.fetched;
    const { ref } = pipeline.spec.source;
    // A person has accepted exactly this commit, however old it is.
    if (!isHeadAccepted(pipeline, commit)) {
      for (const other of present) await rejectNewer(repository, { commit, other, ref });
    }
    return contentFor(repository.renders, cluster, commit);
  }

  async function opened(pipeline: Pipeline): Promise<OpenRepository> {
    const version = repositoryVersion(pipeline, options.secrets);
    if (open && open.version !== version) await close();
    return (open ??= openRenders(pipeline, version));
  }

  function openRenders(pipeline: Pipeline, version: string): OpenRepository {
    const { ref, path } = pipeline.spec.source;
    // Not the folder of promotion, which this process may start at any time: one folder has one writer.
    const git = openRepository(pipeline, options.secrets, join(options.gitFolder, 'assigned'));
    const renders = createRenderStore({ ...options, git, ref, path });
    return { version, git, fetched: git.fetch(ref), renders, compared: new Set() };
  }

  async function close(): Promise<void> {
    const closing = open;
    open = undefined;
    await closing?.renders.close();
    await closing?.git.close();
  }
}

interface CommitPair {
  readonly commit: string;
  readonly other: string;
  readonly ref: string;
}

async function rejectNewer(
  { git, compared }: OpenRepository,
  { commit, other, ref }: CommitPair,
): Promise<void> {
  const pair = `${commit} ${other}`;
  if (compared.has(pair) || other === commit) return;
  await git.ensure(commit, ref);
  if (
    (await isInRepository(git, other, ref)) &&
    (await git.ancestry({ ancestor: other, head: commit, ref })) === 'older'
  ) {
    throw new Error(
      `the cluster runs commit ${other}, which is newer than the assigned commit ${commit}: nothing is written until promotion has recorded it`,
    );
  }
  compared.add(pair);
}

/** A commit that was removed by a forced push, or is from another repository, is in no order with ours. */
async function isInRepository(git: GitTransport, commit: string, ref: string): Promise<boolean> {
  try {
    await git.ensure(commit, ref);
    return true;
  } catch (error) {
    if (isGitError(error, 'NotFoundObject')) return false;
    throw error;
  }
}
