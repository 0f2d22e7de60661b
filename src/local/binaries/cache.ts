/**
 * The binaries that we have already: one folder for each version, platform and origin, with a manifest of
 * checksums. A folder gets its name only when it is whole, so a broken download or build never shows up here.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfExists, sha256OfFile, toDiskError, writeFileAtomic } from '../../os/files.ts';

export interface Manifest {
  /** Where the files came from, for people. */
  readonly source: string;
  readonly files: Readonly<Record<string, FileNote>>;
  /** Names of the same program. */
  readonly links: Readonly<Record<string, string>>;
}

interface FileNote {
  readonly sha256: string;
  readonly size: number;
  /** When it was written. As long as that stands, the checksum is not worked out anew: it takes half a second. */
  readonly mtimeMs: number;
}

const MANIFEST = 'manifest.json';

/** The names in that folder, when each of them is still what it was; undefined when there is nothing to trust. */
export async function readEntry(folder: string): Promise<ReadonlySet<string> | undefined> {
  const manifest = parseManifest(await readFileIfExists(join(folder, MANIFEST)));
  if (!manifest) return undefined;
  for (const [name, note] of Object.entries(manifest.files)) {
    if (!(await isUnchanged(join(folder, name), note))) return undefined;
  }
  for (const [name, target] of Object.entries(manifest.links)) {
    if ((await readlink(join(folder, name)).catch(() => undefined)) !== target) return undefined;
  }
  return new Set([...Object.keys(manifest.files), ...Object.keys(manifest.links)]);
}

async function isUnchanged(path: string, note: FileNote): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.size !== note.size) return false;
  return found.mtimeMs === note.mtimeMs || (await sha256OfFile(path)) === note.sha256;
}

/** `fill` writes into an empty folder; what it leaves there becomes the entry, or nothing does. */
export async function writeEntry(
  folder: string,
  source: string,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${folder}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await mkdir(temporary, { recursive: true });
    await fill(temporary);
    await writeFileAtomic(
      join(temporary, MANIFEST),
      JSON.stringify(await describe(temporary, source), undefined, 2),
    );
    // What stood here before did not pass readEntry, or the caller would not be here.
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
  } catch (error) {
    throw toDiskError(error, folder);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function describe(folder: string, source: string): Promise<Manifest> {
  const files: Record<string, FileNote> = {};
  const links: Record<string, string> = {};
  for (const name of (await readdir(folder)).toSorted()) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isSymbolicLink()) links[name] = await readlink(path);
    else files[name] = { sha256: await flushed(path), size: found.size, mtimeMs: found.mtimeMs };
  }
  return { source, files, links };
}

/** The checksum, once the file is on the disk: a manifest must not outlive in a crash what it describes. */
async function flushed(path: string): Promise<string> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return await sha256OfFile(path);
}

function parseManifest(text: string | undefined): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isManifest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false;
  const { files, links } = value as Partial<Record<keyof Manifest, unknown>>;
  return typeof files === 'object' && files !== null && typeof links === 'object' && links !== null;
}
