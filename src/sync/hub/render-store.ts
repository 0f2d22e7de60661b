/**
 * The renders of the commits of one repository: one a commit, shared by all who ask. Whole fleets are large, so only a few
 * stay in memory, and none that nobody has asked for lately: the renderer has them on disk.
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
  /** Rejects with a RenderError when the commit is to blame. A failure is not remembered. */
  get(commit: string): Promise<Rendered>;
  /** For commits that were accepted before: what cannot be rendered any more is nothing, and logged. */
  quietly(commit: string): Promise<Rendered | undefined>;
}

/** The newest, and what each of the stages is on: who works on a cluster asks several times a minute. */
const MAX_KEPT = 4;
const KEPT_MS = 60_000;

export function createRenderStore({ git, ref, path, renderer, clock, log }: RenderStoreOptions): RenderStore {
  const renders = new Map<string, { readonly content: Promise<Rendered>; readonly askedMs: number }>();
  return { get, quietly };

  function get(commit: string): Promise<Rendered> {
    const nowMs = clock.monotonicMs();
    const content = renders.get(commit)?.content ?? render(commit);
    // Last in the order of a Map: the first one is then the one that was asked for longest ago.
    renders.delete(commit);
    renders.set(commit, { content, askedMs: nowMs });
    for (const [old, { askedMs }] of renders) {
      if (nowMs - askedMs > KEPT_MS || renders.size > MAX_KEPT) renders.delete(old);
    }
    content.catch(() => renders.delete(commit));
    return content;
  }

  async function render(commit: string): Promise<Rendered> {
    await git.ensure(commit, ref);
    const { rendered, warnings } = await renderer.commit({ git, commit, path });
    for (const warning of warnings) log.warn('render warns', { commit, warning });
    return rendered;
  }

  async function quietly(commit: string): Promise<Rendered | undefined> {
    try {
      return await get(commit);
    } catch (error) {
      log.warn('older commit not rendered', { commit, error });
      return undefined;
    }
  }
}
