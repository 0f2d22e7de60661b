/** npm for tests, and the tarball that users install. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNpm } from '../../src/demo/template/npm.ts';
import { packedPackage } from '../../src/demo/template/package-cache.ts';
import { PACKAGE_ROOT } from '../../src/demo/template/scaffold.ts';
import { cacheFolder } from '../../src/local/folders.ts';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The Node that runs this test comes first: the version of Node decides what npm installs. */
function ownEnv(): NodeJS.ProcessEnv {
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  return { ...process.env, PATH: path, npm_config_audit: 'false', npm_config_fund: 'false' };
}

export function npm(cwd: string, ...args: string[]): string {
  return run('npm', cwd, args);
}

export function npx(cwd: string, ...args: string[]): string {
  return run('npx', cwd, args);
}

function run(program: 'npm' | 'npx', cwd: string, args: readonly string[]): string {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio, env: ownEnv() });
}

/** Resolves to the path of the tarball in the cache of this machine. It is packed once for each content, because that takes a build. */
export async function packedTarball(): Promise<string> {
  const signal = new AbortController().signal;
  return await packedPackage({
    packageRoot: PACKAGE_ROOT,
    cache: cacheFolder(process.env),
    npm: createNpm({ env: ownEnv(), signal }),
    signal,
    onPack: () => undefined,
  });
}

/** Unpacks the package beside the dependencies of this checkout, which saves minutes of npm install. */
export function unpackBeside(tarball: string, folder: string): string {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const name of readdirSync(MODULES).filter((entry) => entry !== '.bin' && entry !== 'kubenode')) {
    symlinkSync(join(MODULES, name), join(modules, name));
  }
  execFileSync('tar', ['-xzf', tarball, '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, 'kubenode'));
  return join(modules, 'kubenode');
}
