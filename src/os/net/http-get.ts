/** One HTTP GET that does not follow redirects: it contacts only the given URL. */
import { readBegin } from './limited.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Its first bytes, as many as were asked for: 4 MiB at most. */
  readonly body: string;
}

/** Prometheus answers a query of a check with one number for each series. */
const MAX_BODY_BYTES = 4 * 1024 ** 2;

/** A redirect is an answer like any other. Rejects without an answer. */
export async function httpGet(
  url: string,
  signal: AbortSignal,
  maxBytes = MAX_BODY_BYTES,
): Promise<HttpAnswer> {
  const answer = await fetch(url, { redirect: 'manual', signal });
  const body = answer.body ? await readBegin(answer.body, Math.min(maxBytes, MAX_BODY_BYTES)) : '';
  return { status: answer.status, body: body.toString() };
}
