/** Writes a pack of a few whole objects, as `git pack-objects` does without deltas. Pure. */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { NewObject } from '../transport.ts';

const TYPES: Readonly<Record<NewObject['type'], number>> = { commit: 1, tree: 2 };
const VERSION = 2;

export function packOf(objects: readonly NewObject[]): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK', 'latin1');
  header.writeUInt32BE(VERSION, 4);
  header.writeUInt32BE(objects.length, 8);
  const entries = objects.flatMap((each) => [entryHeader(each), deflateSync(each.content)]);
  const body = Buffer.concat([header, ...entries]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** The first byte has the type and four bits of the size, the others have seven bits each, the lowest first. */
function entryHeader({ type, content }: NewObject): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(content.byteLength / 16);
  let next = (TYPES[type] << 4) | (content.byteLength % 16);
  while (rest > 0) {
    bytes.push(next | 0x80);
    next = rest % 0x80;
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, next]);
}
