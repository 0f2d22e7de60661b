/**
 * Reconciles one Pipeline while this process holds its Lease: polls its repository, keeps the hub's own objects at the newest
 * accepted commit, and hands the accepted commits to promotion, which sets the target of each cluster. Its state in memory can be
 * lost at any time.
 */
import type { Pipeline } from '../../../api/generated/types.ts';
import { ANNOTATION_POLL_REQUEST } from '../../../api/names.ts';
import { SecretError } from '../../../api/secrets/read.ts';
import { createLoop } from '../../../kube/controller/loop.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { AcceptedCommits, HeadReport } from '../../commits.ts';
import type { PollRequest } from '../../git/source.ts';
import type { CommitSource, WriteFence } from '../../promote/ports.ts';
import type { RenderedTarget } from '../../rendered.ts';
import { GitHostError } from '../../report/git-host.ts';
import { createVersionedVerdicts } from '../acceptance/commit-checks.ts';
import { repositoryVersion } from '../repository.ts';
import {
  type AssignedContent,
  type ContentReader,
  createContentReader,
} from '../split-leases/content-reader.ts';
import { openPipelineSession, type PipelineSession, type PipelineSessionOptions } from './session.ts';

export interface PipelineWorkerOptions
  extends Omit<PipelineSessionOptions, 'onChange' | 'verdicts' | 'version'> {
  /** Reconciles the promotion of the Pipeline; resolves to the time to requeue it, if any. */
  readonly promote: (pipeline: string, commits: CommitSource, fence: WriteFence) => Promise<Date | undefined>;
  /** Keeps the clusters that a person rolled back at their revisions. It needs no commit. */
  readonly rollBack: (pipeline: string, commits: CommitSource, fence: WriteFence) => Promise<void>;
  /** Records why nothing can be promoted yet. */
  readonly reportSource: (pipeline: string, head: HeadReport, fence: WriteFence) => Promise<void>;
}

export interface PipelineWorker {
  requeue(): void;
  /** Tells whether this process holds the Lease, and so promotes the Pipeline. */
  isHeld(): boolean;
  /** Returns what is assigned to a cluster, while another process holds the Lease. */
  assignedContent(assigned: AssignedContent): Promise<RenderedTarget | undefined>;
  close(): Promise<void>;
}

/** Reconciles at least this often, so that ages in the status stay correct. */
const MAX_REQUEUE_MS = 15_000;
const GATHER_MS = 100;
const RETRY_MS = 2000;

export function createPipelineWorker(options: PipelineWorkerOptions): PipelineWorker {
  const { name, hub, lease, clock, log } = options;
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round: reconcile });
  const reader = createReader(options);
  const verdictsOf = createVersionedVerdicts();
  let isClosed = false;
  let session: PipelineSession | undefined;
  const commits = commitsOf(() => session);

  return {
    requeue: () => loop.trigger(),
    isHeld: () => lease.notHeldReason() === undefined,
    assignedContent,
    async close() {
      isClosed = true;
      // The reconcile in progress may wait for a render of the session, which its end cancels.
      await Promise.all([loop.close(), closeSession(), reader.close()]);
    },
  };

  async function assignedContent(assigned: AssignedContent): Promise<RenderedTarget | undefined> {
    const pipeline = hub.stores.pipelines.get(name);
    return pipeline && reader.read(pipeline, assigned);
  }

  async function reconcile(): Promise<number> {
    try {
      await ensureSession();
      session?.source.pollNow(pollRequest(hub.stores.pipelines.get(name)));
      if (!session) return MAX_REQUEUE_MS;
      if (!(await isReadyToPromote(session, commits, options))) {
        await options.rollBack(name, commits, lease.fence);
        return MAX_REQUEUE_MS;
      }
      return delayUntil(await options.promote(name, commits, lease.fence), clock.now());
    } catch (error) {
      if (!isClosed) log.warn('reconcile failed', { pipeline: name, error });
      return reportUnopened(error);
    }
  }

  /** Records why the Pipeline cannot be opened. A change of the Pipeline or of a Secret triggers the next reconcile. */
  async function reportUnopened(failure: unknown): Promise<number> {
    if (!(failure instanceof PipelineUnopened)) return RETRY_MS;
    try {
      await options.reportSource(name, unopenedHead(failure), lease.fence);
      return MAX_REQUEUE_MS;
    } catch (error) {
      log.warn('status not written', { pipeline: name, error });
      return RETRY_MS;
    }
  }

  /** Keeps a session open while the Pipeline exists and its Lease is held, and opens it again when its repository changes. */
  async function ensureSession(): Promise<void> {
    const pipeline = lease.notHeldReason() === undefined ? await hub.pipeline(name) : undefined;
    const version = pipeline && repositoryVersion(pipeline, hub.stores.secrets);
    if (session?.version === version) return;
    await closeSession();
    if (pipeline && version && !isClosed) {
      session = openSession(pipeline, version);
      await reader.close();
    }
  }

  function openSession(pipeline: Pipeline, version: string): PipelineSession {
    const verdicts = verdictsOf(version);
    try {
      return openPipelineSession(pipeline, { ...options, verdicts, version, onChange: () => loop.trigger() });
    } catch (error) {
      if (!(error instanceof SecretError || error instanceof GitHostError)) throw error;
      throw new PipelineUnopened('CredentialsInvalid', error.message);
    }
  }

  async function closeSession(): Promise<void> {
    const closing = session;
    session = undefined;
    await closing?.close();
  }
}

/**
 * Returns a source of commits that outlives each session: targets keep it, and a repository that is opened again answers for the
 * commits of the one before.
 */
function commitsOf(session: () => PipelineSession | undefined): CommitSource {
  return {
    accepted: async (mentioned) => (await session()?.source.accepted(mentioned)) ?? NO_COMMITS,
    changes: async (commit, clusters) => (await session()?.source.changes(commit, clusters)) ?? new Map(),
    content: async (target, commit) => await session()?.source.content(target, commit),
  };
}

/** Tells whether a commit can be promoted, and records what is known about the head while none can. */
async function isReadyToPromote(
  session: PipelineSession,
  commits: CommitSource,
  { name, lease, reportSource }: Pick<PipelineWorkerOptions, 'name' | 'lease' | 'reportSource'>,
): Promise<boolean> {
  const { source } = session;
  if (!source.hasPolled()) return false;
  // The newest accepted commit is unknown before the head is.
  const isReady = source.head().commit !== undefined && (await followNewest(session, commits));
  if (!isReady) await reportSource(name, source.head(), lease.fence);
  return isReady;
}

async function followNewest(
  { source, ownObjects }: PipelineSession,
  commits: CommitSource,
): Promise<boolean> {
  const newest = source.newestAccepted();
  return newest !== undefined && (await ownObjects.follow(newest, commits));
}

function delayUntil(requeueAt: Date | undefined, now: Date): number {
  if (!requeueAt) return MAX_REQUEUE_MS;
  return Math.min(MAX_REQUEUE_MS, Math.max(0, requeueAt.getTime() - now.getTime()));
}

/** Returns the polls that `kubenode sync now` and webhooks requested. */
function pollRequest(pipeline: Pipeline | undefined): PollRequest {
  return {
    ...optional('person', pipeline?.metadata.annotations?.[ANNOTATION_POLL_REQUEST]),
    ...optional('webhook', pipeline?.status?.webhook?.receivedAt),
  };
}

/** The Pipeline cannot be opened, and only a person can help. */
class PipelineUnopened extends Error {
  override readonly name = 'PipelineUnopened';
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

const NO_COMMITS: AcceptedCommits = {
  commits: [],
  head: { verdict: 'Accepted', unread: 'the repository has not been read yet' },
};

function unopenedHead({ reason, message }: PipelineUnopened): HeadReport {
  return { verdict: 'Accepted', unopened: { reason, message } };
}

function createReader(options: PipelineWorkerOptions): ContentReader {
  const { secrets, releases } = options.hub.stores;
  const isReleased = (commit: string): boolean => releases.list().some(({ spec }) => spec.commit === commit);
  return createContentReader({ ...options, secrets, isReleased });
}
