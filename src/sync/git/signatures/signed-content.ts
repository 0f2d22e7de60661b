/** Splits a commit into its signature and the bytes that were signed. Pure. */
import type { RawObject } from '../transport.ts';
import { SignatureError } from './signature-error.ts';

export interface SignedContent {
  /** The bytes of the commit without any signature, as git signs them. */
  readonly payload: Buffer;
  /** The armored signature. Absent: the commit is not signed. */
  readonly signature?: string;
}

const [NEWLINE, SPACE] = [0x0a, 0x20];
const SIGNATURES: readonly string[] = ['gpgsig', 'gpgsig-sha256'];

interface HeaderLine {
  readonly header: string;
  readonly bytes: Buffer;
  readonly isContinued: boolean;
}

/**
 * Works on bytes, because a message need not be UTF-8. Like git, it leaves out the signature for the other hash algorithm, too. A commit
 * with two signatures for its own is refused: programs disagree about which of them counts.
 */
export function splitSignature(oid: string, { content }: Pick<RawObject, 'content'>): SignedContent {
  const own = oid.length === 64 ? 'gpgsig-sha256' : 'gpgsig';
  const { lines, rest } = readHeader(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
  const kept = lines.filter(({ header }) => !SIGNATURES.includes(header)).map(({ bytes }) => bytes);
  const payload = Buffer.concat([...kept, rest]);
  const ownLines = lines.filter(({ header }) => header === own);
  const count = ownLines.filter(({ isContinued }) => !isContinued).length;
  if (count > 1) throw new SignatureError(`it has ${count} signatures, expected 1`);
  if (count === 0) return { payload };
  return { payload, signature: ownLines.map((line) => textOf(line, own)).join('') };
}

/** Splits a commit into the lines of its header, each with the header that it belongs to, and all that follows. */
function readHeader(bytes: Buffer): { readonly lines: readonly HeaderLine[]; readonly rest: Buffer } {
  const lines: HeaderLine[] = [];
  let header = '';
  let start = 0;
  while (start < bytes.length && bytes[start] !== NEWLINE) {
    const found = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, found < 0 ? bytes.length : found + 1);
    const isContinued = line[0] === SPACE;
    if (!isContinued) header = /^[^ \n]*/.exec(line.toString('latin1'))?.[0] ?? '';
    lines.push({ header, bytes: line, isContinued });
    start += line.length;
  }
  return { lines, rest: bytes.subarray(start) };
}

function textOf({ bytes, isContinued }: HeaderLine, own: string): string {
  return bytes.toString('latin1', isContinued ? 1 : own.length + 1);
}
