/**
 * Checks the sizes of all objects of a pack before isomorphic-git indexes it, which inflates each of them in memory. A pack
 * names the size of each object before its content, and the size of the result at the start of each delta.
 */
import { inflateSync } from 'node:zlib';
import { GitError } from '../errors.ts';
import { checkObjectSize, PACK_LIMITS, type PackLimits, tooLarge } from '../object-limits.ts';
import type { RawObject } from '../transport.ts';

const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
const TYPES: Readonly<Record<number, RawObject['type']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
const OID_BYTES = 20;

interface PackEntry {
  readonly type: number;
  /** Uncompressed. */
  readonly size: number;
  /** The position at which its compressed content starts. */
  readonly start: number;
}

export function checkPackSizes(pack: Buffer, limits: PackLimits = PACK_LIMITS): void {
  if (pack.length < HEADER_BYTES + TRAILER_BYTES || pack.toString('latin1', 0, 4) !== 'PACK') throw corrupt();
  const count = pack.readUInt32BE(8);
  if (count > limits.maxObjects) {
    throw tooLarge(`the commit adds ${count} objects, more than ${limits.maxObjects}`);
  }
  let bytes = 0;
  let position = HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    const entry = readEntry(pack, position);
    checkEntry(entry, entry.size);
    const { content, end } = inflate(pack, entry);
    const size = isDelta(entry) ? resultSize(content) : entry.size;
    checkEntry(entry, size);
    bytes += size;
    if (bytes > limits.maxBytes) {
      throw tooLarge(`the objects of the commit are larger than ${limits.maxBytes} bytes`);
    }
    position = end;
  }
}

function isDelta({ type }: PackEntry): boolean {
  return type === OFFSET_DELTA || type === REFERENCE_DELTA;
}

/** The type of a delta's result is that of its base, which may be outside of the pack: the largest limit applies. */
function checkEntry({ type }: PackEntry, size: number): void {
  checkObjectSize('the commit adds an object that is too large', TYPES[type] ?? 'blob', size);
}

function readEntry(pack: Buffer, position: number): PackEntry {
  const { value: size, next, first } = readSize(pack, position);
  const type = (first >> 4) & 0b111;
  if (!(type in TYPES) && type !== OFFSET_DELTA && type !== REFERENCE_DELTA) throw corrupt();
  if (type === OFFSET_DELTA) return { type, size, start: readSize(pack, next).next };
  return { type, size, start: type === REFERENCE_DELTA ? next + OID_BYTES : next };
}

/** A number of variable length. The first byte of an entry has its type and four bits of the size, others have seven. */
function readSize(
  bytes: Buffer,
  position: number,
  firstBits = 4,
): { value: number; next: number; first: number } {
  const first = byteAt(bytes, position);
  let value = first & (2 ** firstBits - 1);
  let factor = 2 ** firstBits;
  let next = position + 1;
  for (let byte = first; byte >= 0x80; next += 1) {
    byte = byteAt(bytes, next);
    value += (byte & 0x7f) * factor;
    factor *= 0x80;
  }
  return { value, next, first };
}

/** A delta starts with the sizes of its base and of its result. */
function resultSize(delta: Buffer): number {
  const base = readSize(delta, 0, 7);
  return readSize(delta, base.next, 7).value;
}

function inflate(pack: Buffer, { size, start }: PackEntry): { content: Buffer; end: number } {
  try {
    // No more than the announced size: a pack that contains more than it announces is corrupt.
    const options = { info: true, maxOutputLength: Math.max(size, 1) };
    const { buffer, engine } = inflateSync(pack.subarray(start), options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return { content: buffer, end: start + engine.bytesWritten };
  } catch (error) {
    throw corrupt(error);
  }
}

function byteAt(bytes: Buffer, position: number): number {
  return bytes[position] ?? raiseCorrupt();
}

function raiseCorrupt(): never {
  throw corrupt();
}

function corrupt(cause?: unknown): GitError {
  return new GitError('Corrupt', 'the pack that the server sent is truncated or corrupt', {
    hint: 'sync fetches it again. If this persists, run git fsck on the repository',
    cause,
  });
}
