/** Builds the control plane from its Go modules: the road for networks that carry modules but no releases. */
import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Clock } from '../../os/clock.ts';
import { systemCode } from '../../os/errors.ts';
import { LocalError } from '../errors.ts';
import type { Environment } from '../folders.ts';
import { PROGRAMS } from '../processes/commands.ts';
import { type Binaries, builtFolder } from './binaries.ts';
import { writeEntry } from './cache.ts';
import type { Platform } from './platform.ts';
import { SOURCE_FILES, SOURCE_FOLDER, sourceDigest } from './source-digest.ts';
import { KUBERNETES_VERSION } from './versions.ts';

export interface BuildRequest {
  readonly env: Environment;
  readonly cache: string;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly tell: (step: string) => void;
  /** For tests; default: the one that comes with us. */
  readonly source?: string;
}

/** One file; which program it is, it reads from the name that it is called by. */
const BINARY = 'kube';
const TELL_MS = 2000;
const TAIL_LINES = 15;

/** Whether `go` can be called at all. */
export async function hasGo(env: Environment): Promise<boolean> {
  try {
    await promisify(execFile)('go', ['version'], { env: { ...env } });
    return true;
  } catch {
    return false;
  }
}

export async function buildBinaries(request: BuildRequest): Promise<Binaries> {
  const { cache, platform, source = SOURCE_FOLDER } = request;
  const folder = builtFolder(cache, platform, await sourceDigest(source));
  await writeEntry(folder, 'go build', async (temporary) => {
    await inCopy(source, temporary, async (module) => {
      const packages = await listPackages(module, request);
      await build(module, join(temporary, BINARY), packages, request);
    });
    for (const name of PROGRAMS) await symlink(BINARY, join(temporary, name));
    await refuseOtherVersion(join(temporary, 'kube-apiserver'));
  });
  return { folder, origin: `go build (${folder})` };
}

/** The package's own folder may be read-only, and go writes beside go.mod when it feels like it. */
async function inCopy(
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

/** Fetches the modules on the way: the first part of the wait. */
async function listPackages(module: string, request: BuildRequest): Promise<number> {
  let modules = 0;
  const tell = throttled(request);
  const listed = await go(['list', '-deps', '.'], module, request, (line) => {
    if (!line.startsWith('go: downloading')) return;
    modules += 1;
    tell(`building the control plane: ${modules} Go modules downloaded`);
  });
  return listed;
}

async function build(module: string, output: string, packages: number, request: BuildRequest): Promise<void> {
  let compiled = 0;
  const tell = throttled(request);
  request.tell(`building the control plane with go build; the first time this takes minutes`);
  await go(['build', '-v', '-trimpath', '-ldflags', ldflags(), '-o', output, '.'], module, request, () => {
    compiled += 1;
    tell(`building the control plane: ${compiled} of at most ${packages} packages compiled`);
  });
}

/** Without them the API server calls itself v0.0.0, and clients refuse to work with it. */
function ldflags(): string {
  const [major, minor] = KUBERNETES_VERSION.slice(1).split('.');
  const values = { gitVersion: KUBERNETES_VERSION, gitMajor: major, gitMinor: minor };
  const settings = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ['-s', '-w', ...settings].join(' ');
}

/** Runs go; `line` sees its stderr. Resolves with the number of lines on stdout. */
async function go(
  args: readonly string[],
  module: string,
  { env, platform, signal }: BuildRequest,
  line: (text: string) => void,
): Promise<number> {
  const child = spawn('go', args, {
    cwd: module,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...goSettings(platform) },
    ...(signal ? { signal } : {}),
  });
  const tail: string[] = [];
  let printed = 0;
  createInterface(child.stdout).on('line', () => (printed += 1));
  createInterface(child.stderr).on('line', (text) => {
    line(text);
    tail.push(text);
    if (tail.length > TAIL_LINES) tail.shift();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw buildError(args, `go could not be started (${systemCode(error) ?? String(error)})`, error);
  });
  signal?.throwIfAborted();
  if (code === 0) return printed;
  throw buildError(args, `go ended with ${code}\n${tail.map((text) => `  | ${text}`).join('\n')}`);
}

/**
 * What the user set for other projects stays out: a vendor flag, a workspace, another platform. Proxies, caches
 * and private module settings hold, because the network is theirs.
 */
function goSettings({ goArch }: Platform): Record<string, string> {
  return {
    GOFLAGS: '-mod=readonly',
    GOWORK: 'off',
    GO111MODULE: 'on',
    CGO_ENABLED: '0',
    GOOS: 'linux',
    GOARCH: goArch,
  };
}

async function refuseOtherVersion(program: string): Promise<void> {
  const { stdout } = await promisify(execFile)(program, ['--version']);
  if (stdout.trim() === `Kubernetes ${KUBERNETES_VERSION}`) return;
  throw new LocalError(
    'Build',
    `the build says it is ${stdout.trim()}, not Kubernetes ${KUBERNETES_VERSION}`,
    {
      where: program,
      hint: 'install kubenode again; its go.mod and its version do not fit together',
    },
  );
}

function throttled({ clock, tell }: BuildRequest): (step: string) => void {
  let next = 0;
  return (step) => {
    const now = clock.monotonicMs();
    if (now < next) return;
    next = now + TELL_MS;
    tell(step);
  };
}

function buildError(args: readonly string[], because: string, cause?: unknown): LocalError {
  return new LocalError('Build', `the control plane could not be built: ${because}`, {
    where: `go ${args[0]}`,
    hint: 'mend what go says (module proxy, disk, Go version), or name a folder with the programs: --kube-assets',
    cause,
  });
}
