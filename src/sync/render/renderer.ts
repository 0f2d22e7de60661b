/** Renders a commit: exports it, runs it twice in a sandbox, compares the results, and caches them by their inputs. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { POLICY_TESTS_FOLDER } from '../../api/validation/policy-tests.ts';
import { createSystemClock } from '../../os/system-clock.ts';
import { removeAbandonedFolders } from '../../os/worker/owned-folder.ts';
import type { ContentVerdict } from '../content-verdict.ts';
import type { GitRepository } from '../git/transport.ts';
import type { Rendered, RenderedObject } from '../rendered.ts';
import type { RenderCache, RenderInputs } from './cache.ts';
import { withCompileCache } from './compile-cache.ts';
import { exportCommit } from './export.ts';
import { inOwnedFolders, withSkipped } from './exported-folders.ts';
import { exportFolder, type SkippedFile, skippedFiles } from './folder-export.ts';
import { jobFor, type RenderContent } from './protocol.ts';
import { createRenderQueue } from './render-queue.ts';
import type { RenderResult } from './result.ts';
import { detectIsolation, type Isolation } from './sandbox/os-isolation.ts';
import type { RenderLimits, Sandbox } from './sandbox/sandbox.ts';
import { resolveToolchain, type Toolchain } from './sandbox/toolchain.ts';
import { linkToolchain } from './sandbox/toolchain-links.ts';
import { runRenderTask, type TaskResult } from './worker/client.ts';
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
  /** The isolation of the sandbox. The default is what this machine supports. */
  readonly isolation?: Isolation;
  /** The program of a worker that can judge. */
  readonly judge?: { readonly program: string };
  /** The folder for compiled code of the toolchain, writable by this user only: renders start faster. */
  readonly compileCache?: string | undefined;
  /** The folder with the links of the toolchain. By default it is the same folder on every machine. */
  readonly links?: string;
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

/** A result with its verdict. It is without the objects if they are refused. */
export type JudgedCommit = CommitResult & { readonly verdict: ContentVerdict };

export interface Renderer {
  /** Renders a commit. Rejects with a RenderError when the commit itself cannot be rendered. */
  commit(request: CommitRender): Promise<CommitResult>;
  /**
   * Renders a commit and judges its objects, in a process with limits: a commit that exceeds them is refused. Rejects as `commit`
   * does.
   */
  judge(request: CommitRender): Promise<JudgedCommit>;
  /** Renders a working tree. It is not cached, and rendered once only: it may change at any time. */
  folder(request: FolderRender): Promise<RenderResult>;
  /** Reads the tests of the policies in the same sandbox. They are not cached, and read once only. */
  policyTests(request: CommitRender | FolderRender): Promise<readonly RenderedObject[]>;
}

/** The part of the renderer that sync needs. */
export type CommitRenderer = Pick<Renderer, 'commit' | 'judge'>;

export function createRenderer(options: RendererOptions = {}): Renderer {
  const { cache, limits, toolchain = resolveToolchain() } = options;
  const clock = createSystemClock();
  const queue = createRenderQueue(Math.max(MIN_SLOTS, 2 * availableParallelism()), clock);
  let sandbox: Promise<Sandbox> | undefined;

  return {
    commit: async (request) => resultOf(request, await renderCommit(request, false)),
    judge: async (request) => judgedOf(request, await renderCommit(request, true)),
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

  async function renderCommit(
    { git, commit: oid, path = '.', facts = {}, signal }: CommitRender,
    judge: boolean,
  ): Promise<TaskResult> {
    const { tree } = await git.commit(oid);
    const inputs: RenderInputs = { tree, path, toolchain: toolchain.digest, facts };
    const how = { judge, ...(signal ? { signal } : {}) };
    const work = async (): Promise<TaskResult> =>
      (await readCached(inputs, how)) ?? (await exportAndRun(git, oid, inputs, how));
    return queue.add(git.display, work, signal);
  }

  /** Reads the cached result. Undefined when there is no entry, or a damaged one. */
  async function readCached(
    inputs: RenderInputs,
    { judge, signal }: RunOptions,
  ): Promise<TaskResult | undefined> {
    if (!cache?.has(inputs)) return undefined;
    return runTask({ cache: { folder: cache.folder, inputs }, ...(judge ? { judge } : {}) }, options, signal);
  }

  /** Renders the commit twice, to detect what varies; and in two folders that share no random name, to detect paths in objects. */
  async function exportAndRun(
    git: GitRepository,
    oid: string,
    inputs: RenderInputs,
    how: RunOptions,
  ): Promise<TaskResult> {
    return inOwnedFolders(['render', 'render-other'], async (roots) => {
      const skipped: SkippedFile[] = [];
      for (const root of roots) {
        how.signal?.throwIfAborted();
        const exported = await exportCommit(git, oid, root);
        skipped.splice(0, skipped.length, ...skippedFiles(exported.skipped));
      }
      const into = cache ? { cache: { folder: cache.folder, inputs } } : {};
      return withSkipped(skipped, () => run(roots, inputs, { ...into, ...how }));
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
    { cache: into, content = 'objects', judge, signal }: RunOptions,
  ): Promise<TaskResult> {
    sandbox ??= openSandbox(options, { toolchain, limits: { ...RENDER_LIMITS, ...limits } }, clock.now());
    const { isolation, ...opened } = await sandbox;
    const found = { ...opened, toolchain: await linkToolchain(toolchain, options.links) };
    const jobs = roots.map((root) => jobFor(found.toolchain, root, { path, facts, content }));
    const task = { run: { sandbox: found, isolation: isolation.names, jobs }, ...(judge ? { judge } : {}) };
    const result = await runTask({ ...task, ...(into ? { cache: into } : {}) }, options, signal);
    if (!result) throw new Error('the render worker gave no result');
    return result;
  }
}

function resultOf({ commit }: CommitRender, { targets, warnings }: TaskResult): CommitResult {
  return { rendered: { commit, targets }, warnings };
}

function judgedOf(request: CommitRender, result: TaskResult): JudgedCommit {
  const { verdict } = result;
  if (!verdict) throw new Error('the render worker gave no verdict');
  return { ...resultOf(request, result), verdict };
}

/** Runs the task in the worker without the checks, which starts sooner, unless the checks are needed. */
async function runTask(
  task: RenderTask,
  { judge }: RendererOptions,
  signal: AbortSignal | undefined,
): Promise<TaskResult | undefined> {
  if (!task.judge) return runRenderTask(task, { signal });
  if (!judge) throw new Error('this renderer has no program that judges');
  return runRenderTask(task, { signal, program: judge.program });
}

async function openSandbox(
  { isolation, compileCache, links }: RendererOptions,
  found: Pick<Sandbox, 'toolchain' | 'limits'>,
  now: Date,
): Promise<Sandbox> {
  // Of processes that were killed before they could do it.
  await removeAbandonedFolders(now);
  const sandbox = {
    ...found,
    toolchain: await linkToolchain(found.toolchain, links),
    isolation: isolation ?? (await detectIsolation()),
  };
  return compileCache === undefined ? sandbox : withCompileCache(sandbox, resolve(compileCache));
}

interface RunOptions {
  readonly cache?: NonNullable<RenderTask['cache']>;
  readonly content?: RenderContent;
  readonly judge?: boolean;
  readonly signal?: AbortSignal;
}

/** Reads the tests of the policies. It exports only what has tests: an export costs more than a listing. */
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
