/** Reads the form of a sign-in. */
import type { IncomingMessage } from 'node:http';
import { AnswerTooLarge, readLimited } from '../../../os/net/limited.ts';

/** Twice the longest token, each byte of which takes up to three characters in a form. */
const MAX_FORM_BYTES = 64 * 1024;
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** Undefined: it is not a form, or too long. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return undefined;
  try {
    const body = await readLimited(request as AsyncIterable<Buffer>, MAX_FORM_BYTES);
    return new URLSearchParams(body.toString('utf8'));
  } catch (error) {
    if (error instanceof AnswerTooLarge) return undefined;
    throw error;
  }
}
