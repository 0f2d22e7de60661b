/** Builds the control plane from its Go modules, for networks that allow Go modules but no releases. */
import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Clock } from '../../os/clock.ts';
import { systemCode } from '../../os/errors.ts';
import { endWithParent } from '../../os/worker/child-prefix.ts';
import { LocalError } from '../errors.ts';
import type { LocalEnvironment } from '../folders.ts';
import { PROGRAMS } from '../processes/commands.ts';
import { type Binaries, buildCacheFolder } from './binaries.ts';
import { writeCacheEntry } from './cache.ts';
import { describeCompiling, describeModules } from './compile-progress.ts';
import { goSettings, removeGoFolders } from './go-settings.ts';
import type { Platform } from './platform.ts';
import { digestSource, SOURCE_FILES, SOURCE_FOLDER } from './source-digest.ts';
import { CONTROL_PLANE_VERSION } from './versions.ts';

export interface BuildRequest {
  readonly env: LocalEnvironment;
  readonly cache: string;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly onStep: (step: string) => void;
  /** For tests; default: the source folder of this package. */
  readonly source?: string;
}

/** One executable for all programs: it selects the program by the name of the link. */
const BINARY = 'kube';
const STEP_INTERVAL_MS = 2000;
const TAIL_LINES = 15;

/** Whether `go` can be executed. */
export async function hasGo(env: LocalEnvironment): Promise<boolean> {
  try {
    await promisify(execFile)('go', ['version'], { env: { ...env } });
    return true;
  } catch {
    return false;
  }
}

export async function buildBinaries(request: BuildRequest): Promise<Binaries> {
  const { cache, platform, source = SOURCE_FOLDER } = request;
  const folder = buildCacheFolder(cache, platform, await digestSource(source));
  await writeCacheEntry(folder, 'go build', async (temporary) => {
    await withSourceCopy(source, temporary, async (module) => {
      const packages = await listPackages(module, request);
      await compile(module, join(temporary, BINARY), packages, request);
    });
    for (const name of PROGRAMS) await symlink(BINARY, join(temporary, name));
    await verifyVersion(join(temporary, 'kube-apiserver'));
  });
  await removeGoFolders(cache);
  return { folder, origin: `go build (${folder})` };
}

/** Copies the sources first: the package folder can be read-only, and go may write next to go.mod. */
async function withSourceCopy(
  source: string,
  parent: string,
  work: (module: string) => Promise<void>,
): Promise<void> {
  const module = await mkdtemp(join(parent, '.build-'));
  try {
    for (const name of SOURCE_FILES) await copyFile(join(source, name), join(module, name));
    await work(module);
  } finally {
    await rm(module, { recursive: true, force: true });
  }
}

/** Counts the packages to compile. Also downloads the modules, which takes the first part of the time. */
async function listPackages(module: string, request: BuildRequest): Promise<number> {
  let modules = 0;
  const onStep = throttleSteps(request);
  const listed = await runGo(['list', '-deps', '.'], module, request, (line) => {
    if (!line.startsWith('go: downloading')) return;
    modules += 1;
    onStep(describeModules(modules));
  });
  return listed;
}

async function compile(
  module: string,
  output: string,
  packages: number,
  request: BuildRequest,
): Promise<void> {
  let compiled = 0;
  const startedMs = request.clock.monotonicMs();
  const onStep = throttleSteps(request);
  await runGo(['build', '-v', '-trimpath', '-ldflags', ldflags(), '-o', output, '.'], module, request, () => {
    compiled += 1;
    onStep(describeCompiling(compiled, packages, request.clock.monotonicMs() - startedMs));
  });
}

/** Without these the API server reports v0.0.0, which clients reject. */
function ldflags(): string {
  const [major, minor] = CONTROL_PLANE_VERSION.slice(1).split('.');
  const values = { gitVersion: CONTROL_PLANE_VERSION, gitMajor: major, gitMinor: minor };
  const settings = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ['-s', '-w', ...settings].join(' ');
}

/** Runs go and calls `onLine` for each line of stderr. Returns the number of lines on stdout. */
async function runGo(
  args: readonly string[],
  module: string,
  { env, cache, platform, signal }: BuildRequest,
  onLine: (text: string) => void,
): Promise<number> {
  const [program, ...rest] = [...endWithParent(), 'go', ...args] as [string, ...string[]];
  const child = spawn(program, rest, {
    cwd: module,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...goSettings(cache, platform, env) },
    ...(signal ? { signal } : {}),
  });
  const tail: string[] = [];
  let stdoutLines = 0;
  createInterface(child.stdout).on('line', () => (stdoutLines += 1));
  createInterface(child.stderr).on('line', (text) => {
    onLine(text);
    tail.push(text);
    if (tail.length > TAIL_LINES) tail.shift();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw createBuildError(args, `go could not be started (${systemCode(error) ?? String(error)})`, error);
  });
  signal?.throwIfAborted();
  if (code === 0) return stdoutLines;
  throw createBuildError(
    args,
    `go exited with code ${code}\n${tail.map((text) => `  | ${text}`).join('\n')}`,
  );
}

async function verifyVersion(program: string): Promise<void> {
  const { stdout } = await promisify(execFile)(program, ['--version']);
  if (stdout.trim() === `Kubernetes ${CONTROL_PLANE_VERSION}`) return;
  throw new LocalError(
    'Build',
    `the build has the wrong version: expected Kubernetes ${CONTROL_PLANE_VERSION}, got ${stdout.trim()}`,
    {
      where: program,
      hint: 'reinstall kubenode: its go.mod does not match its version',
    },
  );
}

function throttleSteps({ clock, onStep }: BuildRequest): (step: string) => void {
  let next = 0;
  return (step) => {
    const now = clock.monotonicMs();
    if (now < next) return;
    next = now + STEP_INTERVAL_MS;
    onStep(step);
  };
}

function createBuildError(args: readonly string[], because: string, cause?: unknown): LocalError {
  return new LocalError('Build', `the control plane could not be built: ${because}`, {
    where: `go ${args[0]}`,
    hint: 'fix the error of go (module proxy, disk, Go version), or pass a folder with the programs: --kube-assets',
    cause,
  });
}
