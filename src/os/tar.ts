/** Reads a .tar.gz or .tar.zst as a stream of entries: ustar, with the long names and links of GNU tar and pax. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { OsError, systemCode } from './errors.ts';

const BLOCK = 512;
/** The maximum size of the text of a long name or of a pax header. */
const MAX_EXTENSION_BYTES = 64 * 1024;

export interface TarEntry {
  readonly path: string;
  readonly size: number;
  readonly type: 'File' | 'Directory' | 'Link' | 'HardLink' | 'Other';
  /** The target of a link of either kind. */
  readonly target: string;
  /** Permission bits. */
  readonly mode: number;
  /** Calls `use` with each piece of the content, in order. What is not read is skipped. */
  read(use: (piece: Buffer) => Promise<void>): Promise<void>;
}

export async function* tarEntries(archive: string): AsyncGenerator<TarEntry, void, void> {
  const expand = (await isZstandard(archive)) ? createZstdDecompress() : createGunzip();
  const source = createReadStream(archive);
  source.on('error', (error) => expand.destroy(error));
  const reader = blockReader(source.pipe(expand));
  try {
    yield* entriesOf(reader);
  } catch (error) {
    throw /^(?:Z_|ZSTD_)/.test(systemCode(error) ?? '') ? corrupt(error) : error;
  } finally {
    await reader.close();
    source.destroy();
  }
}

const ZSTANDARD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

async function isZstandard(archive: string): Promise<boolean> {
  const file = await open(archive);
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(ZSTANDARD.length), position: 0 });
    return buffer.equals(ZSTANDARD);
  } finally {
    await file.close();
  }
}

async function* entriesOf(reader: BlockReader): AsyncGenerator<TarEntry, void, void> {
  let extension: Extension = {};
  for (let header = await reader.take(BLOCK); header[0]; header = await reader.take(BLOCK)) {
    const parsed = parseHeader(header);
    const padded = Math.ceil(parsed.size / BLOCK) * BLOCK;
    if (EXTENSIONS.includes(parsed.flag)) {
      if (parsed.size > MAX_EXTENSION_BYTES) throw corrupt();
      const text = (await reader.take(padded)).subarray(0, parsed.size).toString('utf8');
      extension = { ...extension, ...readExtension(parsed.flag, text) };
      continue;
    }
    const size = extension.size ?? parsed.size;
    let left = Math.ceil(size / BLOCK) * BLOCK;
    yield {
      path: extension.path ?? parsed.path,
      target: extension.target ?? parsed.target,
      mode: parsed.mode,
      size,
      type: TYPES[parsed.flag] ?? 'Other',
      async read(use) {
        await reader.each(size, use);
        left -= size;
      },
    };
    await reader.skip(left);
    extension = {};
  }
}

interface Extension {
  readonly path?: string;
  readonly target?: string;
  readonly size?: number;
}

const TYPES: Readonly<Record<string, TarEntry['type']>> = {
  '0': 'File',
  '\0': 'File',
  '1': 'HardLink',
  '2': 'Link',
  '5': 'Directory',
};

/** The flags of a pax header, a global pax header, a long name and a long link. */
const EXTENSIONS = ['x', 'g', 'L', 'K'];

function readExtension(flag: string, text: string): Extension {
  if (flag === 'L') return { path: text.replace(/\0+$/, '') };
  if (flag === 'K') return { target: text.replace(/\0+$/, '') };
  return flag === 'x' ? readPax(text) : {};
}

/** Reads a pax header, whose records are `<length> <key>=<value>\n`. */
function readPax(text: string): Extension {
  const values = new Map(
    [...text.matchAll(/^\d+ ([^=\n]+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  );
  const [path, target, size] = [values.get('path'), values.get('linkpath'), values.get('size')];
  return {
    ...(path !== undefined && { path }),
    ...(target !== undefined && { target }),
    ...(size !== undefined && { size: toSize(size, 10) }),
  };
}

interface Header {
  readonly path: string;
  readonly target: string;
  readonly size: number;
  readonly mode: number;
  readonly flag: string;
}

/** Parses a header of ustar: name at 0, mode at 100, size in octal at 124, type at 156, link at 157, prefix of the name at 345. */
function parseHeader(header: Buffer): Header {
  const text = (from: number, to: number): string => {
    const field = header.toString('utf8', from, to);
    return field.slice(0, field.includes('\0') ? field.indexOf('\0') : field.length).trim();
  };
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  // GNU tar keeps times where ustar has the prefix.
  const prefix = isUstar && header[263] === 0x30 ? text(345, 500) : '';
  return {
    path: prefix ? `${prefix}/${text(0, 100)}` : text(0, 100),
    target: text(157, 257),
    size: toSize(text(124, 136) || '0', 8),
    mode: Number.parseInt(text(100, 108) || '0', 8) & 0o7777,
    flag: header.toString('latin1', 156, 157),
  };
}

function toSize(text: string, radix: number): number {
  const size = Number.parseInt(text, radix);
  if (!Number.isSafeInteger(size) || size < 0) throw corrupt();
  return size;
}

function corrupt(cause?: unknown): OsError {
  return new OsError('Download', 'the archive is corrupt', {
    hint: 'remove it and download it again',
    cause,
  });
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
