/** Atomic file writes, and disk errors that tell what to do. */
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OsError, systemCode } from './errors.ts';

/** For keys and kubeconfigs: only the owner may read them. */
export const PRIVATE_MODE = 0o600;
export const PUBLIC_MODE = 0o644;
const PRIVATE_FOLDER = 0o700;

/**
 * The content is synced to disk under a temporary name and then renamed, so that a crash or a concurrent reader
 * gets either the old file or the new one.
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

/** For what other users of the machine must not read. Also makes a folder private that exists. */
export async function ensurePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
    await chmod(path, PRIVATE_FOLDER);
  } catch (error) {
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

/** A folder counts too. Throws when it cannot be known. */
export async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw toDiskError(error, path);
  }
}

/** Free bytes of a file system for this user. */
export type FreeBytes = (folder: string) => Promise<number>;

export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Throws DiskFull early, because many programs end with a stack trace when the disk is full. */
export async function checkFreeSpace(
  folder: string,
  neededBytes: number,
  freeBytes: FreeBytes = freeBytesOf,
): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= neededBytes) return;
  const [has, needs] = [free, neededBytes].map((bytes) => `${Math.floor(bytes / 1e6)} MB`);
  throw new OsError('DiskFull', `the disk is full: ${folder} has ${has} left, ${needs} are needed`, {
    where: folder,
    hint: 'free some space',
  });
}

/** A full disk or missing permission as an OsError with a hint; every other error unchanged. */
export function toDiskError(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new OsError('DiskFull', `the disk is full: ${path} could not be written`, {
      where: path,
      hint: 'free some space',
      cause: error,
    });
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new OsError('NoAccess', `permission denied: ${path} (${code})`, {
      where: path,
      hint: 'make it accessible for this user',
      cause: error,
    });
  }
  return error;
}

/** With one buffer for the whole file: a stream leaves each of its pieces to the garbage collector, 70 MiB for a large program. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(HASH_BYTES);
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, HASH_BYTES, null);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const HASH_BYTES = 256 * 1024;
