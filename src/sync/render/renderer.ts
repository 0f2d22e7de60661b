/** Renders a commit: exported, run twice in a sandbox, compared, and kept by content. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import PQueue from 'p-queue';
import type { GitRepository } from '../git/transport.ts';
import type { Rendered } from '../rendered.ts';
import type { RenderCache, RenderInputs } from './cache.ts';
import { withCompileCache } from './compile-cache.ts';
import { notDeterministic } from './difference.ts';
import { detectIsolation, type Isolation } from './isolation.ts';
import { jobFor } from './protocol.ts';
import { type RenderResult, readResult } from './result.ts';
import { type RenderLimits, runSandbox, type Sandbox } from './sandbox.ts';
import { resolveToolchain, type Toolchain } from './toolchain.ts';

export const RENDER_LIMITS: RenderLimits = {
  timeoutMs: 60_000,
  cpuSeconds: 60,
  heapMiB: 512,
  outputBytes: 128 * 1024 * 1024,
};

export interface RendererOptions {
  readonly cache?: RenderCache;
  readonly limits?: Partial<RenderLimits>;
  readonly toolchain?: Toolchain;
  /** Default: what this machine has. */
  readonly isolation?: Isolation;
  /** Folder of this user alone, for compiled code of the toolchain: renders start in half the time. */
  readonly compileCache?: string | undefined;
}

export interface CommitRender {
  readonly git: GitRepository;
  readonly commit: string;
  /** `Pipeline.spec.source.path`. */
  readonly path?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

export interface FolderRender extends Omit<CommitRender, 'git' | 'commit'> {
  readonly folder: string;
}

export interface CommitResult {
  readonly rendered: Rendered;
  readonly warnings: readonly string[];
}

export interface Renderer {
  /** Rejects with a RenderError when the commit is to blame. */
  commit(request: CommitRender): Promise<CommitResult>;
  /** A working tree as it lies there. Never cached, and rendered once: it may change while we look. */
  folder(request: FolderRender): Promise<RenderResult>;
}

export function createRenderer(options: RendererOptions = {}): Renderer {
  const { cache, limits, toolchain = resolveToolchain() } = options;
  const all = { ...RENDER_LIMITS, ...limits };
  // One that loops must not keep the others waiting for its limit.
  const queue = new PQueue({ concurrency: Math.max(2, availableParallelism()) });
  let sandbox: Promise<Sandbox> | undefined;

  return { commit, folder };

  async function commit({
    git,
    commit: oid,
    path = '.',
    facts = {},
    signal,
  }: CommitRender): Promise<CommitResult> {
    const { tree } = await git.commit(oid);
    const inputs: RenderInputs = { tree, path, toolchain: toolchain.digest, facts };
    const kept = await cache?.get(inputs);
    const bytes = kept ?? (await queue.add(() => renderTwice(git, oid, inputs, signal)));
    const { targets, warnings } = await readResult(bytes);
    // Only what is good is kept: a commit that fails is looked at again, with the limits and the isolation of that day.
    if (!kept) await cache?.put(inputs, bytes);
    return { rendered: { commit: oid, targets }, warnings };
  }

  /** Side by side, as somebody waits for it; from two folders: a path that got into an object shows. */
  async function renderTwice(
    git: GitRepository,
    oid: string,
    inputs: RenderInputs,
    signal?: AbortSignal,
  ): Promise<Buffer> {
    const home = await mkdtemp(join(tmpdir(), 'kubenode-render-'));
    try {
      const once = async (name: string): Promise<Buffer> => {
        const root = join(home, name);
        await mkdir(root);
        await git.exportTree(oid, root);
        return run(root, inputs, signal);
      };
      // Both have ended before their folders go.
      const [first, second] = await Promise.allSettled([once('a'), once('other')]);
      if (first.status === 'rejected') throw first.reason;
      if (second.status === 'rejected') throw second.reason;
      if (!first.value.equals(second.value)) throw notDeterministic(first.value, second.value);
      return first.value;
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  async function folder({ folder: at, path = '.', facts = {}, signal }: FolderRender): Promise<RenderResult> {
    const root = resolve(at);
    const bytes = await queue.add(() => run(root, { path, facts }, signal));
    return readResult(bytes);
  }

  async function openSandbox(): Promise<Sandbox> {
    const found = { toolchain, isolation: options.isolation ?? (await detectIsolation()), limits: all };
    return options.compileCache === undefined ? found : withCompileCache(found, options.compileCache);
  }

  async function run(
    root: string,
    { path, facts }: Pick<RenderInputs, 'path' | 'facts'>,
    signal?: AbortSignal,
  ): Promise<Buffer> {
    sandbox ??= openSandbox();
    return runSandbox(await sandbox, jobFor(toolchain, root, path, facts), signal);
  }
}
