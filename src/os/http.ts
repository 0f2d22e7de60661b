/** The little of HTTP that downloads need: one GET, redirects followed, proxies respected, silence noticed. */
import { setGlobalProxyFromEnv } from 'node:http';
import type { Clock } from './clock.ts';
import { systemCode } from './errors.ts';

/** `passing`: the same request may well succeed a little later. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly retryable: boolean;

  constructor(message: string, passing: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = passing;
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
  /** Bytes of this answer's body, where the server says so. */
  readonly length: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

const SILENCE_MS = 30_000;
const RANGE_NOT_SATISFIABLE = 416;

export async function openUrl(url: string, options: FetchOptions): Promise<FetchResponse> {
  const { clock, signal, silenceMs = SILENCE_MS } = options;
  const quiet = new AbortController();
  const silence = watchSilence(clock, silenceMs, quiet);
  // Compressed on the way, lengths and ranges would be those of something else.
  const headers = { 'accept-encoding': 'identity', ...options.headers };
  try {
    const response = await fetch(url, {
      headers,
      signal: signal ? AbortSignal.any([quiet.signal, signal]) : quiet.signal,
    });
    await refuseStatus(response);
    const body = piecesOf(response, silence, signal);
    return { status: response.status, length: lengthOf(response), body };
  } catch (error) {
    silence.end();
    throw failureOf(error, signal);
  }
}

async function* piecesOf(
  { body }: Response,
  silence: Silence,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    for await (const piece of body ?? []) {
      silence.heard();
      yield piece;
    }
  } catch (error) {
    throw failureOf(error, signal);
  } finally {
    silence.end();
  }
}

function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get('content-length');
  return length === null ? undefined : Number(length);
}

export async function fetchText(url: string, options: FetchOptions): Promise<string> {
  const { body } = await openUrl(url, options);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** HTTPS_PROXY and NO_PROXY hold for as long as that work lasts. */
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

async function refuseStatus(response: Response): Promise<void> {
  const { ok, status, statusText } = response;
  if (ok || status === RANGE_NOT_SATISFIABLE) return;
  await response.body?.cancel();
  const passing = status >= 500 || status === 429 || status === 408;
  throw new HttpFailure(`the server answered ${status} ${statusText}`.trim(), passing);
}

/** A name or port that nobody answers by stays so for longer than we want to wait. */
const FINAL = new Set([
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
  return new HttpFailure(code || reason.message, !FINAL.has(code), error);
}

/** fetch says `fetch failed`, and why in the cause. */
function reasonOf(error: unknown): Error {
  if (error instanceof Error) return error.cause instanceof Error ? error.cause : error;
  return new Error('the connection broke', { cause: error });
}

interface Silence {
  heard(): void;
  end(): void;
}

function watchSilence(clock: Clock, silenceMs: number, quiet: AbortController): Silence {
  const over = new AbortController();
  let heardMs = clock.monotonicMs();
  void wait();
  return {
    heard() {
      heardMs = clock.monotonicMs();
    },
    end() {
      over.abort();
    },
  };

  async function wait(): Promise<void> {
    try {
      for (let left = silenceMs; left > 0; left = heardMs + silenceMs - clock.monotonicMs()) {
        await clock.sleep(left, over.signal);
      }
      quiet.abort(new HttpFailure(`nothing came for ${Math.round(silenceMs / 1000)} s`, true));
    } catch {
      // Ended in time.
    }
  }
}
