/** Reads what may be shown of a log: its last bytes, printable, and without secrets. */
import { open } from 'node:fs/promises';
import { printableText } from '../../kube/objects/printable.ts';
import { redactText } from '../../kube/process/redact-log.ts';

/** The bytes that are read before the tail: a secret is recognized by what is before it. This is longer than a private key of 4096 bits. */
const CONTEXT_BYTES = 8192;

/** Returns the tail of a log. Redacts before it cuts: the rest of a secret that was cut is not recognized. */
export function cleanLogTail(content: Buffer, maxBytes: number): string {
  const redacted = Buffer.from(redactText(content.toString('utf8')));
  return printableText(redacted.subarray(Math.max(0, redacted.length - maxBytes)).toString('utf8'));
}

/** Reads the tail of a log file, never the whole file. Empty when there is none. */
export async function readCleanLogTail(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return '';
  try {
    const length = maxBytes + CONTEXT_BYTES;
    const position = Math.max(0, (await file.stat()).size - length);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
    return cleanLogTail(buffer.subarray(0, bytesRead), maxBytes);
  } finally {
    await file.close();
  }
}
