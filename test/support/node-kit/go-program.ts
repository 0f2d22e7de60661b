/** Programs of tests that are built with Go, once for each machine. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readCacheEntry, writeCacheEntry } from '../../../src/local/binaries/cache.ts';
import { detectPlatform } from '../../../src/local/binaries/platform.ts';
import { digestSource, SOURCE_FILES } from '../../../src/local/binaries/source-digest.ts';
import { cacheFolder } from '../../../src/local/folders.ts';
import { withLock } from '../../../src/os/lock.ts';
import { findProgram, run } from './shell.ts';

export interface GoProgram {
  readonly program: string;
  readonly version: string;
  /** The folder of its module. */
  readonly source: string;
  /** The package of the program. By default it is the module itself. */
  readonly package?: string;
  /** For the linker, beside `-s -w`. */
  readonly settings: readonly string[];
}

/** With an empty build cache and one free core. */
const BUILD_MS = 60 * 60_000;

/** Path of the program. */
export async function builtProgram(wanted: GoProgram): Promise<string> {
  const folder = await cacheEntry(wanted);
  return await withLock(folder, {}, async () => {
    if (!(await readCacheEntry(folder))?.has(wanted.program)) await build(folder, wanted);
    return join(folder, wanted.program);
  });
}

export async function isBuilt(wanted: GoProgram): Promise<boolean> {
  return (await readCacheEntry(await cacheEntry(wanted)))?.has(wanted.program) === true;
}

/** Why this machine has none and cannot build one. */
export async function whyNotBuilt(wanted: GoProgram): Promise<string | undefined> {
  const { program, version } = wanted;
  if (findProgram('go') || (await isBuilt(wanted))) return undefined;
  return `${program} ${version} is built with Go: install it (https://go.dev/dl)`;
}

async function cacheEntry({ program, version, source }: GoProgram): Promise<string> {
  const digest = (await digestSource(source)).slice(0, 12);
  const name = `${program}-${version}-${detectPlatform(process).name}-built-${digest}`;
  return join(cacheFolder(process.env), 'kube', name);
}

async function build(folder: string, wanted: GoProgram): Promise<void> {
  const { program, version, source, settings, package: path = '.' } = wanted;
  process.stderr.write(`building ${program} ${version} with go build: ${folder}\n`);
  await writeCacheEntry(folder, 'go build', async (temporary) => {
    const module = await mkdtemp(join(temporary, '.build-'));
    try {
      for (const name of SOURCE_FILES) await copyFile(join(source, name), join(module, name));
      const output = join(temporary, program);
      const environment = ['CGO_ENABLED=0', 'GOFLAGS=-mod=readonly', 'GOWORK=off'];
      const flags = ['-s', '-w', ...settings].join(' ');
      const go = ['go', 'build', '-C', module, '-trimpath', '-ldflags', flags, '-o', output, path];
      await run('nice', ['-n', '15', 'env', ...environment, ...go], BUILD_MS);
    } finally {
      await rm(module, { recursive: true, force: true });
    }
  });
}
