/**
 * Renders of the commits of one repository, shared by concurrent callers. Fleets are large, so only a few recently used renders are
 * kept in memory: the renderer caches them on disk.
 */
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { GitTransport } from '../git/transport.ts';
import type { Renderer } from '../render/renderer.ts';
import type { Rendered } from '../rendered.ts';

export interface RenderStoreOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly path: string;
  readonly renderer: Renderer;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RenderStore {
  /** Rejects with a RenderError when the commit itself cannot be rendered. Failures are not cached. */
  get(commit: string): Promise<Rendered>;
  /** For commits that were accepted before. Undefined, and logged, when the commit can no longer be rendered. */
  getIfRenderable(commit: string): Promise<Rendered | undefined>;
}

/** The newest commit and the commits of the stages: cluster workers read them several times a minute. */
const MAX_RENDERS = 4;
const MAX_UNUSED_MS = 60_000;

export function createRenderStore({ git, ref, path, renderer, clock, log }: RenderStoreOptions): RenderStore {
  const renders = new Map<string, { readonly content: Promise<Rendered>; readonly usedMs: number }>();
  return { get, getIfRenderable };

  function get(commit: string): Promise<Rendered> {
    const nowMs = clock.monotonicMs();
    const content = renders.get(commit)?.content ?? render(commit);
    // Moves it to the end of the Map, so that the first entry is the least recently used.
    renders.delete(commit);
    renders.set(commit, { content, usedMs: nowMs });
    for (const [old, { usedMs }] of renders) {
      if (nowMs - usedMs > MAX_UNUSED_MS || renders.size > MAX_RENDERS) renders.delete(old);
    }
    content.catch(() => renders.delete(commit));
    return content;
  }

  async function render(commit: string): Promise<Rendered> {
    await git.ensure(commit, ref);
    const { rendered, warnings } = await renderer.commit({ git, commit, path });
    for (const warning of warnings) log.warn('render warning', { commit, warning });
    return rendered;
  }

  async function getIfRenderable(commit: string): Promise<Rendered | undefined> {
    try {
      return await get(commit);
    } catch (error) {
      log.warn('rendering an accepted commit failed', { commit, error });
      return undefined;
    }
  }
}
