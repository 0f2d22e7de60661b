/** Extracts single files from a .tar.gz, by name. Nothing else of the archive is written to disk. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { OsError } from './errors.ts';
import { toDiskError } from './files.ts';

const BLOCK = 512;

/** Writes the first regular file with that base name to `to`, executable. */
export async function extractFile(archive: string, name: string, to: string): Promise<void> {
  const reader = blockReader(createReadStream(archive).pipe(createGunzip()));
  try {
    for (let header = await reader.take(BLOCK); header[0]; header = await reader.take(BLOCK)) {
      const { path, size, regular } = parseHeader(header);
      const padded = Math.ceil(size / BLOCK) * BLOCK;
      if (regular && basename(path) === name) {
        await writeEntry(reader, size, to);
        return;
      }
      await reader.skip(padded);
    }
  } catch (error) {
    throw toDiskError(error, to);
  } finally {
    await reader.close();
  }
  throw new OsError('Download', `the archive does not contain the file ${name}`, {
    where: archive,
    hint: 'check that this is the right archive',
  });
}

async function writeEntry(reader: BlockReader, size: number, to: string): Promise<void> {
  const file = await open(to, 'wx', 0o755);
  try {
    await reader.each(size, async (piece) => void (await file.write(piece)));
  } finally {
    await file.close();
  }
}

/** ustar: name at 0, size in octal at 124, type at 156, prefix of the name at 345. */
function parseHeader(header: Buffer): { path: string; size: number; regular: boolean } {
  const text = (from: number, to: number): string => {
    const field = header.toString('utf8', from, to);
    return field.slice(0, field.includes('\0') ? field.indexOf('\0') : field.length).trim();
  };
  const prefix = text(345, 500);
  const size = Number.parseInt(text(124, 136) || '0', 8);
  if (!Number.isSafeInteger(size)) {
    throw new OsError('Download', 'the archive is corrupt', { hint: 'remove it and download it again' });
  }
  const type = header[156];
  return {
    path: prefix ? `${prefix}/${text(0, 100)}` : text(0, 100),
    size,
    regular: type === 0x30 || type === 0,
  };
}

interface BlockReader {
  take(size: number): Promise<Buffer>;
  skip(size: number): Promise<void>;
  each(size: number, use: (piece: Buffer) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

function blockReader(stream: AsyncIterable<Buffer>): BlockReader {
  const iterator = stream[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  async function each(size: number, use: (piece: Buffer) => Promise<void>): Promise<void> {
    for (let left = size; left > 0; ) {
      if (rest.length === 0) rest = await next();
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      await use(piece);
    }
  }

  async function next(): Promise<Buffer> {
    const { value, done } = (await iterator.next()) as IteratorResult<Buffer, undefined>;
    if (done) throw new OsError('Download', 'the archive ends early', { hint: 'download it again' });
    return value;
  }

  async function take(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    await each(size, (piece) => Promise.resolve(void pieces.push(piece)));
    return Buffer.concat(pieces);
  }

  return {
    take,
    each,
    skip: (size) => each(size, () => Promise.resolve()),
    close: async () => void (await iterator.return?.()),
  };
}
