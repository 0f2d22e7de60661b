/** Encodes the DER types that certificates need (X.690). */

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return element(0x31, Buffer.concat(parts));
}

/** Unsigned, big-endian: a leading zero is added if the first bit would make it negative. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const magnitude = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  const negative = ((magnitude[0] ?? 0) & 0x80) !== 0;
  return element(0x02, negative ? Buffer.concat([Buffer.from([0]), magnitude]) : magnitude);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.from([value ? 0xff : 0]));
}

/** The first two arcs share a byte; each later one is written in base 128, all digits but the last with the high bit set. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text, 'utf8'));
}

/** The caller knows that the text has only characters of this type: letters, digits and `'()+,-./:=?`. */
export function printable(text: string): Buffer {
  return element(0x13, Buffer.from(text, 'latin1'));
}

export function octets(bytes: Uint8Array): Buffer {
  return element(0x04, bytes);
}

export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([unused]), bytes]));
}

/** RFC 5280 requires two-digit years before 2050 and four-digit years from then on. */
export function timestamp(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '');
  return date.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2)))
    : element(0x18, Buffer.from(digits));
}

/** A context-specific field: `constructed` if it contains other elements. */
export function tagged(number: number, content: Uint8Array, kind: 'constructed' | 'primitive'): Buffer {
  return element((kind === 'constructed' ? 0xa0 : 0x80) | number, content);
}

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

function base128(arc: number): number[] {
  const digits = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift((rest % 128) | 0x80);
  }
  return digits;
}
