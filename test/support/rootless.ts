/**
 * Commands of a user without root: of the current one, or, where that is root, of the user 65534, in a copy of this checkout, because
 * kubenode builds programs in the checkout that it runs from.
 */
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RUN_FOLDER } from './leak-guard/leaks.ts';
import { tempFolder } from './temp.ts';

export interface Rootless {
  /** Empty at first, and the user's. */
  readonly folder: string;
  /** Path of the CLI. */
  readonly main: string;
  start(program: string, args: readonly string[], stdio: StdioOptions): ChildProcess;
  run(program: string, args: readonly string[]): string;
}

interface User {
  readonly checkout: string;
  readonly options: { readonly uid?: number; readonly gid?: number; readonly env?: NodeJS.ProcessEnv };
}

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
/** What kubenode needs of a checkout, besides its dependencies. */
const FOLDERS = ['bin', 'crds', 'docs', 'fleet', 'rules', 'scripts', 'src'];
const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'LICENSE',
];
const OTHER_USER = 65_534;

/** `binaries`: folder of the control plane. The user has no cache. */
export function openRootless(name: string, binaries: string): Rootless {
  const folder = tempFolder(name);
  const { checkout, options } = userFor(folder, binaries);
  return {
    folder: join(folder, 'work'),
    main: join(checkout, 'src/cli/main.ts'),
    start: (program, args, stdio) => spawn(program, args, { ...options, stdio }),
    run: (program, args) => execFileSync(program, args, { ...options, encoding: 'utf8' }).trim(),
  };
}

function userFor(folder: string, binaries: string): User {
  mkdirSync(join(folder, 'work'));
  if (process.getuid?.() !== 0) return { checkout: CHECKOUT, options: {} };
  openPathTo(folder);
  const closed = [folder, process.execPath].find((path) => !isReachable(path));
  if (closed !== undefined) {
    process.stderr.write(`${closed} is not accessible for other users: this test runs as root\n`);
    return { checkout: CHECKOUT, options: {} };
  }
  const [checkout, home, programs] = ['checkout', 'home', 'programs'].map((part) => join(folder, part)) as [
    string,
    string,
    string,
  ];
  for (const part of [...FOLDERS, ...FILES]) {
    cpSync(join(CHECKOUT, part), join(checkout, part), { recursive: true });
  }
  // Most of them are links to one program beside them.
  cpSync(binaries, programs, { recursive: true, verbatimSymlinks: true });
  mkdirSync(home);
  execFileSync('chown', ['-R', '-h', `${OTHER_USER}:${OTHER_USER}`, folder]);
  copyDependencies(join(checkout, 'node_modules'));
  const NODE_COMPILE_CACHE = join(home, 'compiled');
  const env = { ...process.env, HOME: home, TMPDIR: home, KUBEBUILDER_ASSETS: programs, NODE_COMPILE_CACHE };
  return { checkout, options: { uid: OTHER_USER, gid: OTHER_USER, env } };
}

/** As links where that is possible, and so not as files of the user. No symbolic link: a render may read only its own folders. */
function copyDependencies(target: string): void {
  const from = join(CHECKOUT, 'node_modules');
  try {
    execFileSync('cp', ['-al', from, target], { stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', from, target]);
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
