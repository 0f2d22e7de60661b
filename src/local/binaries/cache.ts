/**
 * The cache of binaries: one folder for each version, platform and origin, with a manifest of checksums. A folder gets
 * its final name only when it is complete, so an interrupted download or build is never used.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, readlink, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileExists, readFileIfExists, sha256OfFile, toDiskError, writeFileAtomic } from '../../os/files.ts';

export interface BinaryManifest {
  /** Where the files came from, for people. */
  readonly source: string;
  readonly files: Readonly<Record<string, FileEntry>>;
  /** Symbolic links, by name. */
  readonly links: Readonly<Record<string, string>>;
}

interface FileEntry {
  readonly sha256: string;
  readonly size: number;
  /** While this is unchanged, the checksum is not computed again: that takes half a second. */
  readonly mtimeMs: number;
}

const MANIFEST = 'manifest.json';

/** The names in that folder if all of them are unchanged; undefined otherwise. */
export async function readCacheEntry(folder: string): Promise<ReadonlySet<string> | undefined> {
  const manifest = parseManifest(await readFileIfExists(join(folder, MANIFEST)));
  if (!manifest) return undefined;
  for (const [name, entry] of Object.entries(manifest.files)) {
    if (!(await isUnchanged(join(folder, name), entry))) return undefined;
  }
  for (const [name, target] of Object.entries(manifest.links)) {
    if ((await readlink(join(folder, name)).catch(() => undefined)) !== target) return undefined;
  }
  return new Set([...Object.keys(manifest.files), ...Object.keys(manifest.links)]);
}

async function isUnchanged(path: string, entry: FileEntry): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.size !== entry.size) return false;
  return found.mtimeMs === entry.mtimeMs || (await sha256OfFile(path)) === entry.sha256;
}

/**
 * Runs `fill` on an empty folder, which becomes the cache entry only if `fill` succeeds. Callers hold a lock: an unfinished folder
 * belongs to a writer that was killed, and its hundreds of megabytes would stay forever.
 */
export async function writeCacheEntry(
  folder: string,
  source: string,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${folder}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await removeUnfinished(folder);
    await mkdir(temporary, { recursive: true });
    await fill(temporary);
    await writeFileAtomic(
      join(temporary, MANIFEST),
      JSON.stringify(await createManifest(temporary, source), undefined, 2),
    );
    // The caller gets here only if readCacheEntry rejected the existing folder.
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
  } catch (error) {
    throw toDiskError(error, folder);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function removeUnfinished(folder: string): Promise<void> {
  const parent = dirname(folder);
  if (!(await fileExists(parent))) return;
  for (const name of await readdir(parent)) {
    if (name.startsWith(`${basename(folder)}.`) && name.endsWith('.tmp')) {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
}

async function createManifest(folder: string, source: string): Promise<BinaryManifest> {
  const files: Record<string, FileEntry> = {};
  const links: Record<string, string> = {};
  for (const name of (await readdir(folder)).toSorted()) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isSymbolicLink()) links[name] = await readlink(path);
    else files[name] = { sha256: await syncAndHash(path), size: found.size, mtimeMs: found.mtimeMs };
  }
  return { source, files, links };
}

/** Syncs the file before hashing, so that no manifest survives a crash without its files. */
async function syncAndHash(path: string): Promise<string> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return await sha256OfFile(path);
}

function parseManifest(text: string | undefined): BinaryManifest | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isManifest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is BinaryManifest {
  if (typeof value !== 'object' || value === null) return false;
  const { files, links } = value as Partial<Record<keyof BinaryManifest, unknown>>;
  return typeof files === 'object' && files !== null && typeof links === 'object' && links !== null;
}
