/** Archives for tests, made by hand: a test decides about each header. */
import { gzipSync } from 'node:zlib';

export interface ArchiveEntry {
  readonly path: string;
  readonly content?: string;
  /** 0 file, 1 hard link, 2 link, 5 directory; others are devices and extensions. */
  readonly flag?: string;
  readonly target?: string;
  readonly mode?: string;
}

const BLOCK = 512;

export function tarGz(entries: readonly ArchiveEntry[]): Uint8Array {
  return gzipSync(Buffer.concat([...entries.map(encodeEntry), Buffer.alloc(2 * BLOCK)]));
}

function encodeEntry({ path, content = '', flag = '0', target = '', mode = '0755' }: ArchiveEntry): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0);
  header.write(mode, 100);
  header.write(Buffer.byteLength(content).toString(8), 124);
  header.write(flag, 156);
  header.write(target, 157);
  header.write('ustar\u000000', 257);
  const body = Buffer.from(content);
  return Buffer.concat([header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}
