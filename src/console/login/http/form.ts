/** Reads the form of a sign-in. */
import type { IncomingMessage } from 'node:http';

/** Twice the longest token, each byte of which takes up to three characters in a form. */
const MAX_FORM_BYTES = 64 * 1024;
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** Undefined: it is not a form, or too long. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > MAX_FORM_BYTES) return undefined;
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}
