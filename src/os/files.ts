/** Files that are either whole or not there. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LocalError, systemCode } from './errors.ts';

/** Only the owner may read: keys, kubeconfigs. */
export const PRIVATE_MODE = 0o600;
export const PUBLIC_MODE = 0o644;
const PRIVATE_FOLDER = 0o700;

/**
 * The new content is on the disk before it gets its name, so a crash leaves the old file or the new one.
 * Whoever reads at the same time sees one of the two as well.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = PUBLIC_MODE,
): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw toDiskError(error, path);
  }
}

export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toDiskError(error, path);
  }
}

/** Room of a file system for this user. */
export type FreeBytes = (folder: string) => Promise<number>;

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Before programs are started that end in a stack trace when there is no room for them. */
export async function checkFreeSpace(
  folder: string,
  neededBytes: number,
  freeBytes: FreeBytes = freeBytesOf,
): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= neededBytes) return;
  const [has, needs] = [free, neededBytes].map((bytes) => `${Math.floor(bytes / 1e6)} MB`);
  throw new LocalError('DiskFull', `the disk is full: ${folder} has ${has} left, ${needs} are needed`, {
    where: folder,
    hint: 'free some space, or choose a folder on another disk with --dir',
  });
}

/** Says what a person can do about it; everything else goes on as it is. */
export function toDiskError(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new LocalError('DiskFull', `the disk is full: ${path} could not be written`, {
      where: path,
      hint: 'free some space, or choose another disk (--dir for the data, XDG_CACHE_HOME for the binaries)',
      cause: error,
    });
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new LocalError('NoAccess', `not allowed to use ${path} (${code})`, {
      where: path,
      hint: 'make it accessible for this user, or choose another folder (--dir, XDG_STATE_HOME, XDG_CACHE_HOME)',
      cause: error,
    });
  }
  return error;
}

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}
