/** One GET for a check. */
import type { HttpAnswer } from './check-runner.ts';

/** A redirect is an answer like any other: it is not followed, so that a check speaks to nobody but its own URL. */
export async function httpGet(url: string, signal: AbortSignal): Promise<HttpAnswer> {
  const answer = await fetch(url, { redirect: 'manual', signal });
  return { status: answer.status, body: await answer.text() };
}
