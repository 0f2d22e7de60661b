/** Reads and writes the lines of git's protocol: each begins with its length in four hex digits. Pure. */

export const FLUSH = '0000';
const LENGTH = 4;

export function pktLine(text: string): string {
  return `${(Buffer.byteLength(text) + LENGTH).toString(16).padStart(LENGTH, '0')}${text}`;
}

/** Returns the lines without their line feeds, and leaves out flush packets. Undefined: the bytes are not whole lines. */
export function readPktLines(bytes: Buffer): readonly string[] | undefined {
  const lines: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const head = bytes.toString('latin1', at, at + LENGTH);
    if (!/^[0-9a-f]{4}$/.test(head)) return undefined;
    const length = head === FLUSH ? LENGTH : Number.parseInt(head, 16);
    if (length < LENGTH || at + length > bytes.length) return undefined;
    if (head !== FLUSH) lines.push(bytes.toString('utf8', at + LENGTH, at + length).replace(/\n$/, ''));
    at += length;
  }
  return lines;
}
