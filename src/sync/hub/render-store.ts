/** The renders of the commits of one repository: one a commit, shared by all who ask, forgotten when nobody names it. */
import type { Log } from '../../kube/log.ts';
import type { GitTransport } from '../git/transport.ts';
import type { Rendered } from '../model.ts';
import type { Renderer } from '../render/renderer.ts';

export interface RenderStoreOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly path: string;
  readonly renderer: Renderer;
  readonly log: Log;
}

export interface RenderStore {
  /** Rejects with a RenderError when the commit is to blame. A failure is not remembered. */
  get(commit: string): Promise<Rendered>;
  /** For commits that were accepted before: what cannot be rendered any more is nothing, and logged. */
  quietly(commit: string): Promise<Rendered | undefined>;
  keepOnly(commits: ReadonlySet<string>): void;
}

export function renderStore({ git, ref, path, renderer, log }: RenderStoreOptions): RenderStore {
  const renders = new Map<string, Promise<Rendered>>();
  return { get, quietly, keepOnly };

  function get(commit: string): Promise<Rendered> {
    const known = renders.get(commit) ?? render(commit);
    renders.set(commit, known);
    known.catch(() => renders.delete(commit));
    return known;
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

  function keepOnly(commits: ReadonlySet<string>): void {
    for (const commit of renders.keys()) if (!commits.has(commit)) renders.delete(commit);
  }
}
