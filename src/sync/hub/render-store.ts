/**
 * Renders of the commits of one repository, shared by concurrent callers: one at a time, so that a Pipeline takes no more than its
 * share. Fleets are large, so only a few recently used renders are kept in memory: the renderer caches them on disk.
 */
import PQueue from 'p-queue';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { GitTransport } from '../git/transport.ts';
import type { CommitRenderer } from '../render/renderer.ts';
import type { Rendered } from '../rendered.ts';
import { createSharedWork, type SharedWork } from './cancel/shared-work.ts';

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
  /** For commits that were accepted before. Undefined, and logged, when the commit can no longer be rendered. */
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
  /** Once it is rendered. */
  objects: number;
}

export function createRenderStore({ git, ref, path, renderer, clock, log }: RenderStoreOptions): RenderStore {
  const renders = new Map<string, StoredRender>();
  const pending = new Set<StoredRender>();
  const queue = new PQueue({ concurrency: 1 });
  let closedBecause: Error | undefined;
  return { get, getIfRenderable, close };

  async function get(commit: string, signal?: AbortSignal): Promise<Rendered> {
    if (closedBecause) throw closedBecause;
    signal?.throwIfAborted();
    const stored = renders.get(commit) ?? start(commit);
    stored.usedMs = clock.monotonicMs();
    // Moves it to the end of the Map, so that the first entry is the least recently used.
    renders.delete(commit);
    renders.set(commit, stored);
    dropUnused();
    return stored.work.wait(signal);
  }

  function start(commit: string): StoredRender {
    const forget = (): void => {
      if (renders.get(commit) === stored) renders.delete(commit);
    };
    const work = createSharedWork((signal) => queue.add(() => render(commit, signal)), forget);
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

  async function render(commit: string, signal: AbortSignal): Promise<Rendered> {
    signal.throwIfAborted();
    await git.ensure(commit, ref, signal);
    const { rendered, warnings } = await renderer.commit({ git, commit, path, signal });
    for (const warning of warnings) log.warn('render warning', { commit, warning });
    return rendered;
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

function countObjects({ targets }: Rendered): number {
  return targets.flatMap(({ units }) => units).reduce((sum, { objects }) => sum + objects.length, 0);
}
