/** Gitea, a real git host, built with Go once for each machine from its Go module, with the files that it reads at run time. */
import { chmod, cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readCacheEntry, writeCacheEntry } from '../../../src/local/binaries/cache.ts';
import { detectPlatform } from '../../../src/local/binaries/platform.ts';
import { cacheFolder } from '../../../src/local/folders.ts';
import { withLock } from '../../../src/os/lock.ts';
import { findProgram, run } from '../node-kit/shell.ts';

/** Newer versions need modules that the module proxy does not have. */
const VERSION = 'v1.26.0';
const MODULE = `code.gitea.io/gitea@${VERSION}`;
/** Its templates and translations, packed: a cache entry has files only. */
const FILES = 'files.tar';
const PROGRAM = 'gitea';
/** With an empty build cache and one free core. */
const BUILD_MS = 60 * 60_000;

export interface GiteaProgram {
  readonly path: string;
  /** The archive of the files that it reads at run time. */
  readonly files: string;
}

/** Returns the program. Built once for each machine, which takes minutes of CPU. */
export async function giteaProgram(): Promise<GiteaProgram> {
  const folder = cacheEntry();
  return await withLock(folder, {}, async () => {
    if (!(await isBuilt())) await build(folder);
    return { path: join(folder, PROGRAM), files: join(folder, FILES) };
  });
}

/** Returns why this machine has no Gitea and cannot build it. */
export async function noGiteaReason(): Promise<string | undefined> {
  if (await isBuilt()) return undefined;
  const missing = ['go', 'gcc'].filter((name) => findProgram(name) === undefined);
  return missing.length === 0
    ? undefined
    : `Gitea ${VERSION} is built with Go and a C compiler: install ${missing.join(' and ')}`;
}

async function isBuilt(): Promise<boolean> {
  return (await readCacheEntry(cacheEntry()))?.has(PROGRAM) === true;
}

function cacheEntry(): string {
  return join(cacheFolder(process.env), 'gitea', `${VERSION}-${detectPlatform(process).name}`);
}

async function build(folder: string): Promise<void> {
  process.stderr.write(`building Gitea ${VERSION} with go build: ${folder}\n`);
  await writeCacheEntry(folder, 'go build', async (temporary) => {
    const module = await mkdtemp(join(temporary, '.build-'));
    try {
      await copyModule(module);
      const go = ['go', 'build', '-C', module, '-trimpath', '-tags', 'sqlite sqlite_unlock_notify'];
      const flags = ['-ldflags', `-s -w -X main.Version=${VERSION.slice(1)}`];
      const environment = ['CGO_ENABLED=1', 'GOFLAGS=-mod=mod', 'GOWORK=off'];
      const output = ['-o', join(temporary, PROGRAM), '.'];
      await run('nice', ['-n', '15', 'env', ...environment, ...go, ...flags, ...output], BUILD_MS);
      await run('tar', ['-cf', join(temporary, FILES), '-C', module, 'options', 'templates', 'public']);
    } finally {
      await rm(module, { recursive: true, force: true });
    }
  });
}

/** The copy in the module cache is read-only, and go writes go.sum. */
async function copyModule(target: string): Promise<void> {
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], BUILD_MS);
  const { Dir } = JSON.parse(stdout) as { readonly Dir: string };
  await cp(Dir, target, { recursive: true });
  await makeWritable(target);
}

/** go writes beside its sources, and a read-only folder cannot be removed. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755);
    else if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o644);
  }
}
