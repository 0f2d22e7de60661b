/** Describes the files of a snapshot, so that one that was damaged or changed later is found before it is opened. */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from '../../../../os/files.ts';

export interface FilesDescription {
  /** The digest of the names and contents of all files. */
  readonly sha256: string;
  /** The space that they take on the disk: a file of a log reserves more than it has. */
  readonly bytes: number;
}

const BLOCK = 512;

export async function describeFiles(folder: string): Promise<FilesDescription> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
  const hash = createHash('sha256');
  let bytes = 0;
  for (const path of paths.toSorted()) {
    const { blocks } = await stat(path);
    bytes += blocks * BLOCK;
    hash.update(`${path.slice(folder.length)}\0${await sha256OfFile(path)}\n`);
  }
  return { sha256: hash.digest('hex'), bytes };
}
