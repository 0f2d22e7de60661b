/** Reads and writes the binary form of keys and signatures of SSH (RFC 4251). Every read is checked against the end. */
import { SignatureError } from '../signature-error.ts';

export interface WireReader {
  bytes(length: number): Buffer;
  uint32(): number;
  /** Reads a length and as many bytes. */
  string(): Buffer;
  text(): string;
  /** Throws when bytes are left. */
  end(): void;
}

export function readWire(buffer: Buffer): WireReader {
  let at = 0;
  return { bytes, uint32, string, text, end };

  function bytes(length: number): Buffer {
    if (length > buffer.length - at) throw new SignatureError('it is truncated');
    at += length;
    return buffer.subarray(at - length, at);
  }

  function uint32(): number {
    return bytes(4).readUInt32BE();
  }

  function string(): Buffer {
    return bytes(uint32());
  }

  function text(): string {
    return string().toString('latin1');
  }

  function end(): void {
    if (at < buffer.length) throw new SignatureError('it continues after its end');
  }
}

export function wireString(value: Buffer | string): Buffer {
  const content = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** Returns a number without its leading zeros, which only keep it positive. */
export function unsigned(mpint: Buffer): Buffer {
  const first = mpint.findIndex((byte) => byte !== 0);
  return first < 0 ? Buffer.alloc(0) : mpint.subarray(first);
}
