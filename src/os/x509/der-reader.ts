/** Reads DER (X.690) as strictly as it is written: definite and shortest lengths only, no bytes left over. */

export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly bytes: Buffer;
}

/** The elements that fill this content. Throws on anything that is not DER. */
export function readElements(content: Buffer): readonly DerElement[] {
  const found: DerElement[] = [];
  for (let at = 0; at < content.length; ) {
    const element = elementAt(content, at);
    found.push(element);
    at += element.bytes.length;
  }
  return found;
}

/** The only element of this content, which has that tag. */
export function readElement(content: Buffer, tag: number): DerElement {
  const [element, ...rest] = readElements(content);
  if (!element || rest.length > 0 || element.tag !== tag) throw malformed();
  return element;
}

function elementAt(content: Buffer, at: number): DerElement {
  const tag = content[at];
  const first = content[at + 1];
  // Tags of more than one byte occur nowhere in a certificate request.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw malformed();
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const length =
    lengthBytes === 0 ? first : longLength(content.subarray(at + 2, at + 2 + lengthBytes), lengthBytes);
  const start = at + 2 + lengthBytes;
  const end = start + length;
  if (end > content.length || first === 0x80) throw malformed();
  return { tag, content: content.subarray(start, end), bytes: content.subarray(at, end) };
}

function longLength(bytes: Buffer, expected: number): number {
  if (bytes.length !== expected || expected > 3) throw malformed();
  const length = bytes.readUIntBE(0, expected);
  if (bytes[0] === 0 || length < 0x80) throw malformed();
  return length;
}

function malformed(): Error {
  return new Error('not valid DER');
}
