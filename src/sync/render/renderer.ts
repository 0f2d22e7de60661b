/** Renders a commit: exports it, runs it twice in a sandbox, compares the results, and caches them by their inputs. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { POLICY_TESTS_FOLDER } from '../../api/policy-tests/format.ts';
import { createSystemClock } from '../../os/system-clock.ts';
import {
  createOwnedFolder,
  removeAbandonedFolders,
  removeOwnedFolder,
} from '../../os/worker/owned-folder.ts';
import type { GitRepository } from '../git/transport.ts';
import type { Rendered, RenderedObject } from '../rendered.ts';
import type { RenderCache, RenderInputs } from './cache.ts';
import { withCompileCache } from './compile-cache.ts';
import { isRenderError, RenderError } from './errors.ts';
import { exportCommit } from './export.ts';
import { exportFolder, type SkippedFile, skippedFiles } from './folder-export.ts';
import { detectIsolation, type Isolation } from './os-isolation.ts';
import { jobFor, type RenderContent } from './protocol.ts';
import { createRenderQueue } from './render-queue.ts';
import type { RenderResult } from './result.ts';
import type { RenderLimits, Sandbox } from './sandbox.ts';
import { resolveToolchain, type Toolchain } from './toolchain.ts';
import { runRenderTask } from './worker/client.ts';
import type { RenderTask } from './worker/protocol.ts';

export const RENDER_LIMITS: RenderLimits = {
  timeoutMs: 60_000,
  cpuSeconds: 60,
  heapMiB: 512,
  outputBytes: 128 * 1024 * 1024,
};

/** A commit that loops until its limit must not keep others waiting; beyond this, memory would be short. */
const MIN_SLOTS = 4;

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
  /** The tests of its policies, read in the same sandbox. Not cached, and read once only. */
  policyTests(request: CommitRender | FolderRender): Promise<readonly RenderedObject[]>;
}

/** What sync needs. */
export type CommitRenderer = Pick<Renderer, 'commit'>;

export function createRenderer(options: RendererOptions = {}): Renderer {
  const { cache, limits, toolchain = resolveToolchain() } = options;
  const clock = createSystemClock();
  const queue = createRenderQueue(Math.max(MIN_SLOTS, 2 * availableParallelism()), clock);
  let sandbox: Promise<Sandbox> | undefined;

  return {
    commit,
    folder,
    policyTests: (request) => {
      const { path = '.', facts = {}, signal } = request;
      const more = { content: 'policyTests', ...(signal ? { signal } : {}) } as const;
      const source = 'git' in request ? request.git.display : request.folder;
      return collectPolicyTests(request, (root) =>
        queue.add(source, () => run([root], { path, facts }, more), signal),
      );
    },
  };

  async function commit({
    git,
    commit: oid,
    path = '.',
    facts = {},
    signal,
  }: CommitRender): Promise<CommitResult> {
    const { tree } = await git.commit(oid);
    const inputs: RenderInputs = { tree, path, toolchain: toolchain.digest, facts };
    const work = async (): Promise<RenderResult> =>
      (await readCached(inputs, signal)) ?? (await exportAndRun(git, oid, inputs, signal));
    const { targets, warnings } = await queue.add(git.display, work, signal);
    return { rendered: { commit: oid, targets }, warnings };
  }

  /** Undefined when there is no entry, or a damaged one. */
  async function readCached(inputs: RenderInputs, signal?: AbortSignal): Promise<RenderResult | undefined> {
    if (!cache?.has(inputs)) return undefined;
    return runRenderTask({ cache: { folder: cache.folder, inputs } }, signal);
  }

  /** Twice, to detect what varies; and in two folders that share no random name, to detect paths in objects. */
  async function exportAndRun(
    git: GitRepository,
    oid: string,
    inputs: RenderInputs,
    signal?: AbortSignal,
  ): Promise<RenderResult> {
    return inOwnedFolders(['render', 'render-other'], async (roots) => {
      const skipped: SkippedFile[] = [];
      for (const root of roots) {
        signal?.throwIfAborted();
        const exported = await exportCommit(git, oid, root);
        skipped.splice(0, skipped.length, ...skippedFiles(exported.skipped));
      }
      const into = cache ? { cache: { folder: cache.folder, inputs } } : {};
      return withSkipped(skipped, () => run(roots, inputs, { ...into, ...(signal ? { signal } : {}) }));
    });
  }

  async function folder({
    folder: source,
    path = '.',
    facts = {},
    signal,
  }: FolderRender): Promise<RenderResult> {
    return inOwnedFolders(['render'], async (roots) => {
      const skipped = await exportFolder(resolve(source), roots[0] ?? '');
      const work = (): Promise<RenderResult> => run(roots, { path, facts }, signal ? { signal } : {});
      return withSkipped(skipped, () => queue.add(source, work, signal));
    });
  }

  async function run(
    roots: readonly string[],
    { path, facts }: Pick<RenderInputs, 'path' | 'facts'>,
    { cache: into, content = 'objects', signal }: RunOptions,
  ): Promise<RenderResult> {
    sandbox ??= openSandbox(options, { toolchain, limits: { ...RENDER_LIMITS, ...limits } }, clock.now());
    const { isolation, ...found } = await sandbox;
    const jobs = roots.map((root) => jobFor(toolchain, root, { path, facts, content }));
    const task = { run: { sandbox: found, isolation: isolation.names, jobs } };
    const result = await runRenderTask({ ...task, ...(into ? { cache: into } : {}) }, signal);
    if (!result) throw new Error('the render worker gave no result');
    return result;
  }
}

async function openSandbox(
  { isolation, compileCache }: RendererOptions,
  found: Pick<Sandbox, 'toolchain' | 'limits'>,
  now: Date,
): Promise<Sandbox> {
  // Of processes that were killed before they could do it.
  await removeAbandonedFolders(now);
  const sandbox = { ...found, isolation: isolation ?? (await detectIsolation()) };
  return compileCache === undefined ? sandbox : withCompileCache(sandbox, resolve(compileCache));
}

interface RunOptions {
  readonly cache?: NonNullable<RenderTask['cache']>;
  readonly content?: RenderContent;
  readonly signal?: AbortSignal;
}

/** Exports only what has tests: an export costs more than a listing. */
async function collectPolicyTests(
  request: CommitRender | FolderRender,
  run: (root: string) => Promise<RenderResult>,
): Promise<readonly RenderedObject[]> {
  const below = join(request.path ?? '.', POLICY_TESTS_FOLDER);
  const hasTests =
    'git' in request
      ? (await request.git.files(request.commit)).some(({ path }) => path.startsWith(`${below}/`))
      : existsSync(join(request.folder, below));
  if (!hasTests) return [];
  const { targets } = await inOwnedFolders(['tests'], async ([root = '']) => {
    if ('git' in request) await exportCommit(request.git, request.commit, root);
    else await exportFolder(resolve(request.folder), root);
    return run(root);
  });
  return targets.flatMap(({ units }) => units.flatMap(({ objects }) => objects));
}

async function inOwnedFolders<T>(
  purposes: readonly string[],
  work: (folders: readonly string[]) => Promise<T>,
): Promise<T> {
  const folders = await Promise.all(purposes.map(createOwnedFolder));
  try {
    return await work(folders);
  } finally {
    for (const folder of folders) await removeOwnedFolder(folder);
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
