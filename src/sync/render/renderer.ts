/** Renders a commit: exports it, runs it twice in a sandbox, compares the results, and caches them by their inputs. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import PQueue from 'p-queue';
import type { GitRepository } from '../git/transport.ts';
import type { Rendered } from '../rendered.ts';
import type { RenderCache, RenderInputs } from './cache.ts';
import { withCompileCache } from './compile-cache.ts';
import { nondeterminismError } from './difference.ts';
import { isRenderError, RenderError } from './errors.ts';
import { exportCommit } from './export.ts';
import { exportFolder, type SkippedFile, skippedFiles } from './folder-export.ts';
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

interface ExportedRender {
  readonly bytes: Buffer;
  readonly skipped: readonly SkippedFile[];
}

const PREFIX = 'kubenode-render-';

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
    const { bytes, skipped } = cached
      ? { bytes: cached, skipped: [] }
      : await queue.add(() => renderTwice(git, oid, inputs, signal));
    const { targets, warnings } = await withSkipped(skipped, () => readResult(bytes));
    // Failures are not cached: they may depend on the limits and the isolation of this machine.
    if (!cached) await cache?.put(inputs, bytes);
    return { rendered: { commit: oid, targets }, warnings };
  }

  /** Concurrently, to save time; and in two folders that share no random name, to detect paths in objects. */
  async function renderTwice(
    git: GitRepository,
    oid: string,
    inputs: RenderInputs,
    signal?: AbortSignal,
  ): Promise<ExportedRender> {
    const renderIn = (prefix: string): Promise<ExportedRender> =>
      inTemporaryFolder(prefix, async (root) => {
        const { skipped } = await exportCommit(git, oid, root);
        return { bytes: await run(root, inputs, signal), skipped: skippedFiles(skipped) };
      });
    // Both have to end: an aborted caller may delete the repository.
    const [first, second] = await Promise.allSettled([renderIn(PREFIX), renderIn(`${PREFIX}other-`)]);
    if (first.status === 'rejected') throw first.reason;
    if (second.status === 'rejected') throw second.reason;
    const [one, other] = [first.value, second.value];
    if (!one.bytes.equals(other.bytes)) throw nondeterminismError(one.bytes, other.bytes);
    return one;
  }

  async function folder({
    folder: source,
    path = '.',
    facts = {},
    signal,
  }: FolderRender): Promise<RenderResult> {
    return inTemporaryFolder(PREFIX, async (root) => {
      const skipped = await exportFolder(resolve(source), root);
      const bytes = await queue.add(() => run(root, { path, facts }, signal));
      return withSkipped(skipped, () => readResult(bytes));
    });
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

async function inTemporaryFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A skipped file may be the reason why a render fails. */
async function withSkipped(
  skipped: readonly SkippedFile[],
  read: () => Promise<RenderResult>,
): Promise<RenderResult> {
  try {
    const result = await read();
    const warnings = skipped.map(({ path, because }) => `${path} was skipped: ${because}`);
    return { ...result, warnings: [...warnings, ...result.warnings] };
  } catch (error) {
    if (!isRenderError(error) || skipped.length === 0) throw error;
    const problems = skipped.map(({ path, because }) => ({ message: `skipped: ${because}`, file: path }));
    throw new RenderError(error.code, [...error.problems, ...problems], error.hint, error);
  }
}
