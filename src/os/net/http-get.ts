/** One HTTP GET that does not follow redirects: it contacts only the given URL. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** A redirect is an answer like any other. Rejects without an answer. */
export async function httpGet(url: string, signal: AbortSignal): Promise<HttpAnswer> {
  const answer = await fetch(url, { redirect: 'manual', signal });
  return { status: answer.status, body: await answer.text() };
}
