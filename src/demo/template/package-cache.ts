/** Packs the kubenode that runs once for each content: that takes a build, and a fleet repository needs the same tarball each time. */
import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { Io } from '../../cli/io.ts';
import { readCacheEntry, writeCacheEntry } from '../../local/binaries/cache.ts';
import { cacheFolder } from '../../local/folders.ts';
import { fileExists } from '../../os/files.ts';
import { withLock } from '../../os/lock.ts';
import type { RunNpm } from './npm.ts';
import { PACKAGE_ROOT } from './scaffold.ts';
import { packageParts, packKubenode } from './vendor.ts';

/** Packs the kubenode that runs, into the cache of the user. */
export async function packOwn(io: Io, npm: RunNpm, onPack: () => void): Promise<string> {
  const cache = cacheFolder(io.env);
  return await packedPackage({ packageRoot: PACKAGE_ROOT, cache, npm, signal: io.signal, onPack });
}

export interface PackageRequest {
  /** The checkout or the installed package that runs. */
  readonly packageRoot: string;
  readonly cache: string;
  readonly npm: RunNpm;
  readonly signal: AbortSignal;
  /** Called before it is packed. */
  readonly onPack: () => void;
}

/** Resolves to the path of the tarball in the cache: `…/kubenode-1.2.3.tgz`. */
export async function packedPackage({
  packageRoot,
  cache,
  npm,
  signal,
  onPack,
}: PackageRequest): Promise<string> {
  const folder = join(cache, 'package', (await digestPackage(packageRoot)).slice(0, 16));
  return await withLock(folder, { signal }, async () => {
    const cached = await cachedTarball(folder);
    if (cached !== undefined) return cached;
    onPack();
    using packed = await packKubenode(packageRoot, npm);
    const name = basename(packed.tarball);
    await writeCacheEntry(folder, packageRoot, (temporary) =>
      copyFile(packed.tarball, join(temporary, name)),
    );
    return join(folder, name);
  });
}

async function cachedTarball(folder: string): Promise<string | undefined> {
  const names = await readCacheEntry(folder);
  const name = [...(names ?? [])].find((each) => each.endsWith('.tgz'));
  return name === undefined ? undefined : join(folder, name);
}

/** Changes with each file that gets into the package, or that is read to build it. */
export async function digestPackage(packageRoot: string): Promise<string> {
  const hash = createHash('sha256');
  for (const part of packageParts(packageRoot)) {
    for (const path of await filesOf(packageRoot, part)) {
      hash
        .update(`${path}\0`)
        .update(await readFile(join(packageRoot, path)))
        .update('\0');
    }
  }
  return hash.digest('hex');
}

/** Lists the files of a folder; a file is its own list, and what does not exist has none. */
async function filesOf(root: string, part: string): Promise<readonly string[]> {
  const path = join(root, part);
  if (!(await fileExists(path))) return [];
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [part];
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(root, join(parentPath, name))).toSorted();
}
