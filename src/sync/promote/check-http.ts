/** One GET for a check, over undici. */
import { request } from 'undici';
import type { HttpAnswer } from './checks.ts';

/** A redirect is an answer like any other: it is not followed, so that a check speaks to nobody but its own URL. */
export async function httpGet(url: string, signal: AbortSignal): Promise<HttpAnswer> {
  const { statusCode, body } = await request(url, { method: 'GET', signal });
  return { status: statusCode, body: await body.text() };
}
