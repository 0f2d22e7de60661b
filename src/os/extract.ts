/** Extracts single files from a .tar.gz, by name. Nothing else of the archive is written to disk. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { OsError } from './errors.ts';
import { toDiskError } from './files.ts';
import { type TarEntry, tarEntries } from './tar.ts';

/** Writes the first regular file with that base name to `to`, executable. */
export async function extractFile(archive: string, name: string, to: string): Promise<void> {
  try {
    for await (const entry of tarEntries(archive)) {
      if (entry.type !== 'File' || basename(entry.path) !== name) continue;
      await writeEntry(entry, to);
      return;
    }
  } catch (error) {
    throw toDiskError(error, to);
  }
  throw new OsError('Download', `the archive does not contain the file ${name}`, {
    where: archive,
    hint: 'check that this is the right archive',
  });
}

async function writeEntry(entry: TarEntry, to: string): Promise<void> {
  const file = await open(to, 'wx', 0o755);
  try {
    await entry.read(async (piece) => void (await file.write(piece)));
  } finally {
    await file.close();
  }
}
