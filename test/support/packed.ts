/** npm for tests, and the tarball that users install. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { createNpm } from '../../src/demo/template/npm.ts';
import { PACKAGE_ROOT } from '../../src/demo/template/scaffold.ts';
import { packKubenode } from '../../src/demo/template/vendor.ts';
import { withLock } from '../../src/os/lock.ts';

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

/** Resolves to the path of the tarball. It is packed once in a run, because that takes a build. */
export async function packedTarball(): Promise<string> {
  const folder = join(inject('controlPlaneRun').folder, 'packed');
  return await withLock(folder, {}, async () => {
    const [packed] = existsSync(folder) ? readdirSync(folder) : [];
    return join(folder, packed ?? (await packInto(folder)));
  });
}

async function packInto(folder: string): Promise<string> {
  const signal = new AbortController().signal;
  using packed = await packKubenode(PACKAGE_ROOT, createNpm({ env: ownEnv(), signal }));
  mkdirSync(folder, { recursive: true });
  const name = basename(packed.tarball);
  // Copied beside the folder first: a file of that name in it is complete.
  copyFileSync(packed.tarball, `${folder}-${name}`);
  renameSync(`${folder}-${name}`, join(folder, name));
  return name;
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
