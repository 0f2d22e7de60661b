/**
 * The renders of the commits of one repository: one a commit, shared by all who ask. Whole fleets are large, so one that
 * nobody has asked for lately goes: the renderer has it on disk, and who works on a cluster asks several times a minute.
 */
import type { Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import type { GitTransport } from '../git/transport.ts';
import type { Rendered } from '../model.ts';
import type { Renderer } from '../render/renderer.ts';

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

const KEPT_MS = 60_000;

export function renderStore({ git, ref, path, renderer, clock, log }: RenderStoreOptions): RenderStore {
  const renders = new Map<string, { readonly content: Promise<Rendered>; readonly askedMs: number }>();
  return { get, quietly };

  function get(commit: string): Promise<Rendered> {
    const nowMs = clock.monotonicMs();
    for (const [old, { askedMs }] of renders) if (nowMs - askedMs > KEPT_MS) renders.delete(old);
    const content = renders.get(commit)?.content ?? render(commit);
    renders.set(commit, { content, askedMs: nowMs });
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
