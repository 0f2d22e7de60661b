/**
 * Renders the commits that another process promotes. The repository is opened when needed and not polled: which commits are
 * accepted is recorded in the hub.
 */
import { join } from 'node:path';
import type { Pipeline } from '../../../api/generated/types.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { type AcceptedHead, acceptedHeads, isHeadAccepted } from '../../accepted-heads.ts';
import { isGitError } from '../../git/errors.ts';
import type { GitTransport } from '../../git/transport.ts';
import type { CommitRenderer } from '../../render/renderer.ts';
import type { RenderedTarget } from '../../rendered.ts';
import { checkAppliedCommit } from '../acceptance/applied-commit.ts';
import { contentFor } from '../pipeline/source.ts';
import { createRenderStore, type RenderStore } from '../render-store.ts';
import { openRepository, type RepositoryAccess, repositoryVersion } from '../repository.ts';

export interface ContentReaderOptions extends RepositoryAccess {
  readonly renderer: CommitRenderer;
  /** Whether the hub has a Release of the commit. */
  readonly isReleased: (commit: string) => boolean;
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
   * Renders the assigned commit. Rejects when the cluster runs a commit that the assigned one neither contains nor replaces: the
   * hub was restored from a backup, and promotion has to adopt the commit of the cluster, or a person has to accept the assigned
   * one.
   */
  read(pipeline: Pipeline, assigned: AssignedContent): Promise<RenderedTarget | undefined>;
  /** Closes the repository. The next read opens it again. */
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
      const context = { ref, accepted: acceptedHeads(pipeline), isReleased: options.isReleased };
      for (const other of present) await rejectOverwriting(repository, { commit, other, ...context });
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
    const git = openRepository(pipeline, options, join(options.gitFolder, 'assigned'));
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

interface Overwriting {
  readonly commit: string;
  /** A commit that the inventory in the cluster names. */
  readonly other: string;
  readonly ref: string;
  readonly accepted: readonly AcceptedHead[];
  readonly isReleased: (commit: string) => boolean;
}

async function rejectOverwriting(
  { git, compared }: OpenRepository,
  { commit, other, ref, accepted, isReleased }: Overwriting,
): Promise<void> {
  const pair = JSON.stringify([commit, other, accepted]);
  if (compared.has(pair) || other === commit) return;
  await git.ensure(commit, ref);
  await fetchIfPresent(git, other, ref);
  const question = { head: commit, lastApplied: other, isReleased: false, accepted };
  const { verdict } = await checkAppliedCommit({ git, ref }, question);
  const isOlder = (await git.ancestry({ ancestor: other, head: commit, ref })) === 'older';
  const relation = isOlder ? 'is newer than' : 'is not in the history of';
  // The hub knows a released one: it was replaced, or is of another Pipeline.
  if (verdict !== 'Accepted' && (isOlder || !isReleased(other))) {
    throw new Error(
      `the cluster runs commit ${other}, which ${relation} the assigned commit ${commit}: nothing is written until promotion has recorded it`,
    );
  }
  compared.add(pair);
}

/**
 * Fetches a commit if the repository has it. One that was removed by a forced push, or is from another repository, is in no order
 * with ours.
 */
async function fetchIfPresent(git: GitTransport, commit: string, ref: string): Promise<void> {
  try {
    await git.ensure(commit, ref);
  } catch (error) {
    if (!isGitError(error, 'NotFoundObject')) throw error;
  }
}
