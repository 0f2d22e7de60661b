/**
 * Reads all objects of a resource through an API server, as they were at a revision of etcd. So each value is decoded, and decrypted, by the program
 * that has to serve it. One that cannot be read is found by its place in the list, because the API server does not name it.
 */
import { listAt, parseRecord, textAt, valueAt } from '../../../../../kube/objects/json.ts';
import { type ProbeEndpoint, type ProbeResponse, sendProbe } from '../../../../../local/processes/probe.ts';
import { messageOf } from '../../../../../os/errors.ts';

/** Neither the memory of the API server nor ours has to hold more values at once. */
const PAGE = 500;
const ANSWER_MS = 60_000;
/** Only names are sent: the values stay in the API server. */
const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const MAX_TEXT = 300;

export type ReadObjects =
  | { readonly count: number }
  /** The number of objects that come before the one that cannot be read, and what the API server answered. */
  | { readonly brokenAt: number; readonly problem: string };

/** Its URL has no path. */
export type DrillApi = ProbeEndpoint & { readonly signal?: AbortSignal | undefined };

interface Cursor {
  readonly count: number;
  readonly limit: number;
  readonly token?: string | undefined;
}

/** Rejects with another answer than a list or an internal error. */
export async function readObjects(
  api: DrillApi,
  { path, revision }: { readonly path: string; readonly revision: number },
): Promise<ReadObjects> {
  let cursor: Cursor = { count: 0, limit: PAGE };
  for (;;) {
    const answer = await askApi(api, `${path}?${queryOf(cursor, revision)}`, NAMES_ONLY);
    if (answer.status === INTERNAL_ERROR) {
      if (cursor.limit === 1) return { brokenAt: cursor.count, problem: messageOfAnswer(answer) };
      cursor = { ...cursor, limit: Math.floor(cursor.limit / 2) };
      continue;
    }
    const list = requireList(answer, path);
    const count = cursor.count + listAt(list, 'items').length;
    const token = textAt(list, 'metadata', 'continue') ?? '';
    if (token === '') return { count };
    cursor = { ...cursor, count, token };
  }
}

const INTERNAL_ERROR = 500;

function queryOf({ limit, token }: Cursor, revision: number): string {
  const from = { resourceVersion: String(revision), resourceVersionMatch: 'Exact' };
  return new URLSearchParams({
    limit: String(limit),
    ...(token === undefined ? from : { continue: token }),
  }).toString();
}

/** Resolves to the list. Rejects with what the API server answered instead. */
export async function readList(api: DrillApi, path: string, accept?: string): Promise<unknown> {
  return requireList(await askApi(api, path, accept), path);
}

export async function askApi(api: DrillApi, path: string, accept?: string): Promise<ProbeResponse> {
  const { signal } = api;
  signal?.throwIfAborted();
  const url = `${api.url}${path}`;
  try {
    return await sendProbe({ ...api, url }, { timeoutMs: ANSWER_MS, signal, ...(accept ? { accept } : {}) });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`the API server did not answer ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function requireList(answer: ProbeResponse, path: string): unknown {
  const body = parseRecord(answer.body);
  if (answer.status === 200 && valueAt(body, 'items') !== undefined) return body;
  throw new Error(`the API server answered ${answer.status} to ${path}: ${messageOfAnswer(answer)}`);
}

function messageOfAnswer({ body }: ProbeResponse): string {
  return (textAt(parseRecord(body), 'message') ?? body.trim()).slice(0, MAX_TEXT);
}
