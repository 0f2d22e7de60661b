/** Renders a commit: exports it, runs it twice in a sandbox, compares the results, and caches them by their inputs. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import PQueue from 'p-queue';
import type { GitRepository } from '../git/transport.ts';
import type { Rendered } from '../rendered.ts';
import type { RenderCache, RenderInputs } from './cache.ts';
import { withCompileCache } from './compile-cache.ts';
import { nondeterminismError } from './difference.ts';
import { exportCommit } from './export.ts';
import { detectIsolation, type Isolation } from './os-isolation.ts';
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
  /** Default: what this machine supports. */
  readonly isolation?: Isolation;
  /** Folder for compiled code of the toolchain, writable by this user only: renders start faster. */
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
  /** Rejects with a RenderError when the commit itself cannot be rendered. */
  commit(request: CommitRender): Promise<CommitResult>;
  /** Renders a working tree. Not cached, and rendered once only: it may change at any time. */
  folder(request: FolderRender): Promise<RenderResult>;
}

export function createRenderer(options: RendererOptions = {}): Renderer {
  const { cache, limits, toolchain = resolveToolchain() } = options;
  const effectiveLimits = { ...RENDER_LIMITS, ...limits };
  // At least two: an endless loop must not delay other renders until its limit.
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
    const cached = await cache?.get(inputs);
    const bytes = cached ?? (await queue.add(() => renderTwice(git, oid, inputs, signal)));
    const { targets, warnings } = await readResult(bytes);
    // Failures are not cached: they may depend on the limits and the isolation of this machine.
    if (!cached) await cache?.put(inputs, bytes);
    return { rendered: { commit: oid, targets }, warnings };
  }

  /** Concurrently, to save time; and in two folders, to detect paths in objects. */
  async function renderTwice(
    git: GitRepository,
    oid: string,
    inputs: RenderInputs,
    signal?: AbortSignal,
  ): Promise<Buffer> {
    const parent = await mkdtemp(join(tmpdir(), 'kubenode-render-'));
    try {
      const renderIn = async (name: string): Promise<Buffer> => {
        const root = join(parent, name);
        await mkdir(root);
        await exportCommit(git, oid, root);
        return run(root, inputs, signal);
      };
      // Both have to end before their folders are deleted.
      const [first, second] = await Promise.allSettled([renderIn('a'), renderIn('other')]);
      if (first.status === 'rejected') throw first.reason;
      if (second.status === 'rejected') throw second.reason;
      if (!first.value.equals(second.value)) throw nondeterminismError(first.value, second.value);
      return first.value;
    } finally {
      await rm(parent, { recursive: true, force: true });
    }
  }

  async function folder({
    folder: root,
    path = '.',
    facts = {},
    signal,
  }: FolderRender): Promise<RenderResult> {
    const bytes = await queue.add(() => run(resolve(root), { path, facts }, signal));
    return readResult(bytes);
  }

  async function openSandbox(): Promise<Sandbox> {
    const found = {
      toolchain,
      isolation: options.isolation ?? (await detectIsolation()),
      limits: effectiveLimits,
    };
    return options.compileCache === undefined
      ? found
      : withCompileCache(found, resolve(options.compileCache));
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
