/**
 * Renders of the commits of one repository, shared by concurrent callers: one at a time, so that a Pipeline takes no more than its
 * share. Fleets are large, so only a few recently used renders are kept in memory: the renderer caches them on disk.
 */
import PQueue from 'p-queue';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { ContentVerdict } from '../content-verdict.ts';
import type { GitTransport } from '../git/transport.ts';
import type { CommitRender, CommitRenderer, CommitResult, JudgedCommit } from '../render/renderer.ts';
import type { Rendered } from '../rendered.ts';
import { createSharedWork, type SharedWork } from './shared-work.ts';

export interface RenderStoreOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly path: string;
  readonly renderer: CommitRenderer;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RenderStore {
  /**
   * Rejects with a RenderError when the commit itself cannot be rendered. Failures are not cached. A render is canceled when the
   * signals of all its callers are aborted; a caller without a signal needs it until the store is closed.
   */
  get(commit: string, signal?: AbortSignal): Promise<Rendered>;
  /** Renders a commit and judges its objects; the render of an accepted commit is kept. Rejects and is canceled as `get`. */
  judge(commit: string, signal?: AbortSignal): Promise<ContentVerdict>;
  /** Returns what a commit that was accepted before renders to. Undefined, and logged, when it can no longer be rendered. */
  getIfRenderable(commit: string): Promise<Rendered | undefined>;
  /** Cancels what is being rendered. */
  close(): Promise<void>;
}

/** The newest commit and the commits of the stages: cluster workers read them several times a minute. */
const MAX_RENDERS = 4;
/** Some 200 MB. The last one is kept, however large. */
const MAX_OBJECTS = 50_000;
const MAX_UNUSED_MS = 60_000;

interface StoredRender {
  readonly work: SharedWork<Rendered>;
  usedMs: number;
  /** The number of objects, once the commit is rendered. */
  objects: number;
}

export function createRenderStore(options: RenderStoreOptions): RenderStore {
  const { clock, log } = options;
  const renders = new Map<string, StoredRender>();
  const pending = new Set<Pick<StoredRender, 'work'> | { readonly work: SharedWork<ContentVerdict> }>();
  const queue = new PQueue({ concurrency: 1 });
  let closedBecause: Error | undefined;
  return { get, judge, getIfRenderable, close };

  async function get(commit: string, signal?: AbortSignal): Promise<Rendered> {
    if (closedBecause) throw closedBecause;
    signal?.throwIfAborted();
    const stored = renders.get(commit) ?? start(commit);
    use(commit, stored);
    return stored.work.wait(signal);
  }

  function use(commit: string, stored: StoredRender): void {
    stored.usedMs = clock.monotonicMs();
    // Moves it to the end of the Map, so that the first entry is the least recently used.
    renders.delete(commit);
    renders.set(commit, stored);
    dropUnused();
  }

  async function judge(commit: string, signal?: AbortSignal): Promise<ContentVerdict> {
    if (closedBecause) throw closedBecause;
    const work = createSharedWork((canceled) => queue.add(() => judgeOne(commit, canceled)), ignore);
    const waiting = { work };
    pending.add(waiting);
    return work.wait(signal).finally(() => pending.delete(waiting));
  }

  async function judgeOne(commit: string, signal: AbortSignal): Promise<ContentVerdict> {
    const { rendered, verdict } = await judgeCommit(options, commit, signal);
    if (verdict.accepted && !renders.has(commit)) {
      const work = createSharedWork(async () => rendered, ignore);
      use(commit, { work, usedMs: 0, objects: countObjects(rendered) });
    }
    return verdict;
  }

  function start(commit: string): StoredRender {
    const forget = (): void => {
      if (renders.get(commit) === stored) renders.delete(commit);
    };
    const work = createSharedWork((signal) => queue.add(() => renderCommit(options, commit, signal)), forget);
    const stored: StoredRender = { work, usedMs: 0, objects: 0 };
    pending.add(stored);
    void keep(stored).catch(forget);
    return stored;
  }

  async function keep(stored: StoredRender): Promise<void> {
    try {
      stored.objects = countObjects(await stored.work.result);
    } finally {
      pending.delete(stored);
    }
    dropUnused();
  }

  async function getIfRenderable(commit: string): Promise<Rendered | undefined> {
    try {
      return await get(commit);
    } catch (error) {
      if (!closedBecause) log.warn('rendering an accepted commit failed', { commit, error });
      return undefined;
    }
  }

  function dropUnused(): void {
    const nowMs = clock.monotonicMs();
    let objects = [...renders.values()].reduce((sum, stored) => sum + stored.objects, 0);
    for (const [commit, stored] of renders) {
      const isOld = nowMs - stored.usedMs > MAX_UNUSED_MS;
      if (!isOld && renders.size <= MAX_RENDERS && (objects <= MAX_OBJECTS || renders.size === 1)) continue;
      renders.delete(commit);
      objects -= stored.objects;
    }
  }

  async function close(): Promise<void> {
    closedBecause ??= new Error('the repository was closed');
    for (const { work } of pending) work.cancel(closedBecause);
    await queue.onIdle();
  }
}

async function renderCommit(
  options: RenderStoreOptions,
  commit: string,
  signal: AbortSignal,
): Promise<Rendered> {
  const { rendered } = await read(options, commit, signal, (request) => options.renderer.commit(request));
  return rendered;
}

function judgeCommit(
  options: RenderStoreOptions,
  commit: string,
  signal: AbortSignal,
): Promise<JudgedCommit> {
  return read(options, commit, signal, (request) => options.renderer.judge(request));
}

async function read<R extends CommitResult>(
  { git, ref, path, log }: RenderStoreOptions,
  commit: string,
  signal: AbortSignal,
  run: (request: CommitRender) => Promise<R>,
): Promise<R> {
  signal.throwIfAborted();
  await git.ensure(commit, ref, signal);
  const result = await run({ git, commit, path, signal });
  for (const warning of result.warnings) log.warn('render warning', { commit, warning });
  return result;
}

function ignore(): void {}

function countObjects({ targets }: Rendered): number {
  return targets.flatMap(({ units }) => units).reduce((sum, { objects }) => sum + objects.length, 0);
}
