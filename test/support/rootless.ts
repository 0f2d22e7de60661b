/**
 * Commands of a user without root: of the current one, or, where that is root, of the user 65534. They run in a copy of this checkout,
 * because kubenode builds programs in the checkout that it runs from, and the guides create folders beside it.
 */
import {
  type ChildProcess,
  execFileSync,
  type SpawnOptions,
  type StdioOptions,
  spawn,
} from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../src/local/folders.ts';
import { COMPILED, copyCompiledCode } from './compiled-code.ts';
import { RUN_FOLDER } from './leak-guard/leaks.ts';
import { tempFolder } from './temp.ts';

export interface Rootless {
  /** Empty at first, and the user's. */
  readonly folder: string;
  /** Of the checkout: where the guides create their folders. */
  readonly parent: string;
  readonly home: string;
  readonly checkout: string;
  /** Path of the CLI. */
  readonly main: string;
  readonly env: NodeJS.ProcessEnv;
  start(program: string, args: readonly string[], stdio: StdioOptions): ChildProcess;
  readonly spawn: (program: string, args: readonly string[], options: SpawnOptions) => ChildProcess;
  run(program: string, args: readonly string[]): string;
}

type Owner = Pick<SpawnOptions, 'uid' | 'gid'>;

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
/** What kubenode and the guides need of a checkout, besides its dependencies. */
const FOLDERS = ['bin', 'crds', 'deploy', 'docs', 'fleet', 'rules', 'scripts', 'src', 'test/support'];
const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'LICENSE',
];
const OTHER_USER = 65_534;
/** In `node_modules`, of all names with a dot. The others are caches of tools, which change while they are copied. */
const NOT_CACHES = ['.bin', '.package-lock.json'];

/**
 * `binaries`: folder of the control plane. The user has no cache, and a home folder of its own: no command can touch the fleet of the
 * person who runs the tests. `tarball`: the package of this checkout, which the user then need not pack: that takes a build.
 */
export function openRootless(name: string, binaries: string, tarball?: string): Rootless {
  const parent = tempFolder(name);
  const [folder, checkout, home, programs] = ['work', 'checkout', 'home', 'programs'].map((part) =>
    join(parent, part),
  ) as [string, string, string, string];
  for (const part of [folder, home]) mkdirSync(part);
  for (const part of [...FOLDERS, ...FILES]) {
    cpSync(join(CHECKOUT, part), join(checkout, part), { recursive: true });
  }
  // Most of them are links to one program beside them.
  cpSync(binaries, programs, { recursive: true, verbatimSymlinks: true });
  if (tarball !== undefined) copyCacheEntry(dirname(tarball), join(cacheFolder({ HOME: home }), 'package'));
  copyCompiledCode(CHECKOUT, checkout);
  const owner = ownerOf(parent);
  copyDependencies(join(checkout, 'node_modules'));
  const { XDG_STATE_HOME: _state, XDG_CACHE_HOME: _cache, ...inherited } = process.env;
  const env = {
    ...inherited,
    HOME: home,
    TMPDIR: home,
    KUBEBUILDER_ASSETS: programs,
    NODE_COMPILE_CACHE: join(checkout, COMPILED),
  };
  const spawnAs: Rootless['spawn'] = (program, args, options) =>
    spawn(program, args, { env, ...options, ...owner });
  return {
    folder,
    parent,
    home,
    checkout,
    main: join(checkout, 'src/cli/main.ts'),
    env,
    spawn: spawnAs,
    start: (program, args, stdio) => spawnAs(program, args, { stdio }),
    run: (program, args) => execFileSync(program, args, { env, ...owner, encoding: 'utf8' }).trim(),
  };
}

/** Gives the folder to the other user, if this one is root. */
function ownerOf(folder: string): Owner {
  if (process.getuid?.() !== 0) return {};
  openPathTo(folder);
  const closed = [folder, process.execPath].find((path) => !isReachable(path));
  if (closed !== undefined) {
    process.stderr.write(`${closed} is not accessible for other users: this test runs as root\n`);
    return {};
  }
  execFileSync('chown', ['-R', '-h', `${OTHER_USER}:${OTHER_USER}`, folder]);
  return { uid: OTHER_USER, gid: OTHER_USER };
}

function copyCacheEntry(entry: string, folder: string): void {
  cpSync(entry, join(folder, basename(entry)), { recursive: true });
}

/** As links where that is possible, and so not as files of the user. No symbolic link: a render may read only its own folders. */
function copyDependencies(target: string): void {
  const from = join(CHECKOUT, 'node_modules');
  const packages = readdirSync(from).filter((name) => !name.startsWith('.') || NOT_CACHES.includes(name));
  mkdirSync(target, { recursive: true });
  try {
    execFileSync('cp', ['-al', ...packages, target], { cwd: from, stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', ...packages, target], { cwd: from });
  }
}

/** Other users may go through the folders of this run, and see nothing in them. */
function openPathTo(folder: string): void {
  chmodSync(folder, 0o711);
  const run = process.env[RUN_FOLDER] ?? folder;
  for (let path = dirname(folder); path.startsWith(run); path = dirname(path)) chmodSync(path, 0o711);
}

function isReachable(path: string): boolean {
  try {
    execFileSync('test', ['-x', path], { uid: OTHER_USER, gid: OTHER_USER });
    return true;
  } catch {
    return false;
  }
}
