/** Lists and reads the files of a folder of events. No file is followed out of the folder, and none is read without a limit. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCode } from '../../../os/errors.ts';
import { MAX_REPORT_BYTES } from '../report/parse.ts';
import type { EventFile } from './folder-plan.ts';

/** Files that are not read get this ending, so that a person finds them and they are not read again. */
export const REJECTED = '.rejected';

export type FileContent =
  | { readonly text: string; readonly changedAt: Date }
  | { readonly problem: string }
  /** It cannot be read now, for a reason that may pass: its content may be good. */
  | { readonly unreadable: string }
  /** It was changed or removed meanwhile. */
  | undefined;

export async function listEventFiles(folder: string): Promise<readonly EventFile[]> {
  const names = await readdir(folder);
  const files = await Promise.all(names.map((name) => stampOf(folder, name)));
  return files.filter((file) => file !== undefined);
}

async function stampOf(folder: string, name: string): Promise<EventFile | undefined> {
  try {
    const { ino, size, mtimeNs } = await lstat(join(folder, name), { bigint: true });
    return { name, stamp: [ino, size, mtimeNs].join('/') };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function readEventFile(folder: string, { name, stamp }: EventFile): Promise<FileContent> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK the open of a named pipe never ends.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    file = await open(join(folder, name), flags);
    return await readOpen(file, stamp);
  } catch (error) {
    return contentAfter(error);
  } finally {
    await file?.close();
  }
}

async function readOpen(file: FileHandle, stamp: string): Promise<FileContent> {
  const stats = await file.stat({ bigint: true });
  if (!stats.isFile()) return { problem: 'it is not a regular file' };
  if (stats.size > MAX_REPORT_BYTES) return { problem: `it is larger than ${MAX_REPORT_BYTES / 1024} KiB` };
  const buffer = Buffer.alloc(Number(stats.size));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const { ino, size, mtimeNs, mtime } = await file.stat({ bigint: true });
  if ([ino, size, mtimeNs].join('/') !== stamp || bytesRead !== buffer.length) return undefined;
  return { text: buffer.toString('utf8'), changedAt: mtime };
}

function contentAfter(error: unknown): FileContent {
  const code = systemCode(error);
  if (code === 'ENOENT') return undefined;
  if (code === 'ELOOP') return { problem: 'it is a symbolic link' };
  if (code === 'ENXIO') return { problem: 'it is not a regular file' };
  return { unreadable: `it cannot be read: ${messageOf(error)}` };
}

/**
 * Resolves to whether the file has its new name: a folder may be mounted read-only. A file that was replaced since it was read keeps its
 * name.
 */
export async function rejectEventFile(folder: string, { name, stamp }: EventFile): Promise<boolean> {
  try {
    if ((await stampOf(folder, name))?.stamp !== stamp) return false;
    await rename(join(folder, name), join(folder, `${name}${REJECTED}`));
    return true;
  } catch {
    return false;
  }
}
