/** HTTP for downloads: one GET that follows redirects, uses the proxy of the environment, and fails when no data arrives. */
import { setGlobalProxyFromEnv } from 'node:http';
import type { Clock } from '../clock.ts';
import { systemCode } from '../errors.ts';
import { AnswerTooLarge, readLimited } from './limited.ts';
import { redirectTarget } from './redirect.ts';

export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  /** The same request may succeed later. */
  readonly retryable: boolean;
  /** The status of the answer, if there was one. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;

  constructor(
    message: string,
    retryable: boolean,
    details: { cause?: unknown; status?: number; headers?: Headers } = {},
  ) {
    super(message, { cause: details.cause });
    this.retryable = retryable;
    this.status = details.status;
    this.headers = details.headers;
  }
}

export interface FetchOptions {
  readonly clock: Clock;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly silenceMs?: number;
}

export interface FetchResponse {
  readonly status: number;
  /** The length of the body in bytes, if the server sent it. */
  readonly length: number | undefined;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array>;
}

const SILENCE_MS = 30_000;
const RANGE_NOT_SATISFIABLE = 416;
/** Sites of releases redirect to a server of files, and that one to a near copy: more is a circle. */
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export async function openUrl(url: string, options: FetchOptions): Promise<FetchResponse> {
  const { clock, signal, silenceMs = SILENCE_MS } = options;
  const idle = new AbortController();
  const watch = watchIdle(clock, silenceMs, idle);
  // With compression, lengths and ranges would not be those of the file.
  const headers = { 'accept-encoding': 'identity', ...options.headers };
  try {
    const response = await fetchFollowing(url, {
      headers,
      signal: signal ? AbortSignal.any([idle.signal, signal]) : idle.signal,
    });
    await checkStatus(response);
    const body = readPieces(response, watch, signal);
    return { status: response.status, length: lengthOf(response), headers: response.headers, body };
  } catch (error) {
    watch.stop();
    throw failureOf(error, signal);
  }
}

async function fetchFollowing(url: string, init: RequestInit): Promise<Response> {
  let next = url;
  const headers = new Headers(init.headers);
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(next, { ...init, headers, redirect: 'manual' });
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) throw new HttpFailure(`more than ${MAX_REDIRECTS} redirects`, false);
    const target = redirectTarget(next, location);
    if (target === undefined) {
      // The query may contain a signature.
      throw new HttpFailure(`the redirect to ${location.replace(/\?.*/, '')} is refused`, false);
    }
    // Credentials are for the server that they were given for: a registry redirects to a store of files of somebody else.
    if (new URL(target).origin !== new URL(next).origin) headers.delete('authorization');
    next = target;
  }
}

async function* readPieces(
  { body }: Response,
  watch: IdleWatch,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    for await (const piece of body ?? []) {
      watch.hold();
      yield piece;
      watch.onData();
    }
  } catch (error) {
    throw failureOf(error, signal);
  } finally {
    watch.stop();
  }
}

function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get('content-length');
  return length === null ? undefined : Number(length);
}

/** The limit of a text, such as a file of checksums. */
const MAX_TEXT_BYTES = 1024 ** 2;

export async function fetchText(
  url: string,
  { maxBytes = MAX_TEXT_BYTES, ...options }: FetchOptions & { readonly maxBytes?: number },
): Promise<string> {
  return (await readAnswerBody(await openUrl(url, options), maxBytes)).toString('utf8');
}

/** Rejects for a larger answer: the same request would get it again. */
export async function readAnswerBody({ body }: FetchResponse, maxBytes: number): Promise<Buffer> {
  return await readLimited(body, maxBytes).catch((error: unknown) => {
    throw error instanceof AnswerTooLarge ? new HttpFailure(error.message, false) : error;
  });
}

/** HTTPS_PROXY and NO_PROXY of `env` apply while `work` runs. */
export async function withProxy<T>(
  env: Readonly<Record<string, string | undefined>>,
  work: () => Promise<T>,
): Promise<T> {
  const restore = setGlobalProxyFromEnv({ ...env });
  try {
    return await work();
  } finally {
    restore();
  }
}

async function checkStatus(response: Response): Promise<void> {
  const { ok, status, statusText, headers } = response;
  if (ok || status === RANGE_NOT_SATISFIABLE) return;
  await response.body?.cancel();
  const retryable = status >= 500 || status === 429 || status === 408;
  throw new HttpFailure(`the server answered ${status} ${statusText}`.trim(), retryable, { status, headers });
}

/** An unknown name or a closed port rarely recovers within the time of a few retries. */
const FINAL_CODES = new Set([
  'ENOTFOUND',
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ERR_INVALID_URL',
]);

function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof HttpFailure || signal?.aborted) return error;
  const reason = reasonOf(error);
  const code = systemCode(reason) ?? '';
  return new HttpFailure(code || reason.message, !FINAL_CODES.has(code), { cause: error });
}

/** The message of fetch is only `fetch failed`: its cause has the reason. */
function reasonOf(error: unknown): Error {
  if (error instanceof Error) return error.cause instanceof Error ? error.cause : error;
  return new Error('the connection failed', { cause: error });
}

interface IdleWatch {
  onData(): void;
  /** Stops the time until the next onData: the reader, and not the server, is why nothing arrives. */
  hold(): void;
  stop(): void;
}

/** Aborts `idle` when no data arrives for `silenceMs`. */
function watchIdle(clock: Clock, silenceMs: number, idle: AbortController): IdleWatch {
  const stopped = new AbortController();
  let lastDataMs: number | undefined = clock.monotonicMs();
  void wait();
  return {
    onData() {
      lastDataMs = clock.monotonicMs();
    },
    hold() {
      lastDataMs = undefined;
    },
    stop() {
      stopped.abort();
    },
  };

  function leftMs(): number {
    return lastDataMs === undefined ? silenceMs : lastDataMs + silenceMs - clock.monotonicMs();
  }

  async function wait(): Promise<void> {
    try {
      for (let left = silenceMs; left > 0; left = leftMs()) await clock.sleep(left, stopped.signal);
      idle.abort(new HttpFailure(`no data for ${Math.round(silenceMs / 1000)} s`, true));
    } catch {
      // Stopped: the answer is complete.
    }
  }
}
