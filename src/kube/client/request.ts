/** One API call: rate limited, measured, and with the name of the call in its errors. */
import type { Clock } from '../../os/clock.ts';
import type { CallOutcome, Limiter } from '../transport/limiter.ts';
import type { HttpRequest, HttpResponse, HttpStream, Transport } from '../transport/transport.ts';
import { isDisruptionBudget, isKubeError, KubeError } from './errors.ts';
import { statusIn } from './response.ts';
import { parseRetryAfter } from './retry-after.ts';

export type ApiVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'apply'
  | 'create'
  | 'replace'
  | 'patch'
  | 'delete'
  | 'discover'
  | 'raw';

/** The name of a call in messages: "list", "machines.kubenode.dev". */
export interface ApiCall {
  readonly verb: ApiVerb;
  readonly what: string;
}

/** For metrics. `code` is the HTTP status, or the KubeErrorCode where there was no answer. */
export interface CallReport {
  readonly verb: ApiVerb;
  readonly code: string;
  readonly seconds: number;
  /** The clock of the server, to a second. Absent without an answer. */
  readonly serverTime?: Date;
}

export interface CallsOptions {
  /** The URL, for messages. */
  readonly server: string;
  readonly clock: Clock;
  readonly onCall?: (report: CallReport) => void;
  /** Without a limiter, only the number of connections limits calls. */
  readonly limiter?: Limiter;
}

export interface ApiCalls {
  readonly server: string;
  /** The answer parsed by `read`. Every error names the call. */
  send<T>(call: ApiCall, request: HttpRequest, read: (response: HttpResponse) => T): Promise<T>;
  open(call: ApiCall, request: HttpRequest): Promise<HttpStream>;
  withContext(call: ApiCall, error: unknown): KubeError;
}

export function createCalls(
  transport: Transport,
  { server, clock, onCall, limiter }: CallsOptions,
): ApiCalls {
  return { server, send: ask, open, withContext: named };

  async function ask<T>(
    call: ApiCall,
    request: HttpRequest,
    read: (response: HttpResponse) => T,
  ): Promise<T> {
    try {
      return read(await limited(call, request, () => transport.request(request)));
    } catch (error) {
      throw named(call, error);
    }
  }

  /** Opening a watch is rate limited; an open watch takes no slot. */
  function open(call: ApiCall, request: HttpRequest): Promise<HttpStream> {
    return limited(call, request, () => transport.stream(request));
  }

  async function limited<A extends HttpResponse | HttpStream>(
    call: ApiCall,
    { signal }: HttpRequest,
    send: () => Promise<A>,
  ): Promise<A> {
    const release = await limiter?.acquire(signal);
    const start = clock.monotonicMs();
    try {
      const answer = await send();
      report(call, { code: String(answer.status), start, date: answer.headers['date'] });
      release?.(outcomeOf(answer));
      return answer;
    } catch (error) {
      report(call, { code: isKubeError(error) ? error.code : 'Unreachable', start });
      release?.({ overloaded: isKubeError(error, 'Timeout') });
      throw error;
    }
  }

  function report({ verb }: ApiCall, { code, start, date }: CallEnd): void {
    const seconds = (clock.monotonicMs() - start) / 1000;
    const serverMs = Date.parse(date ?? '');
    onCall?.({ verb, code, seconds, ...(Number.isNaN(serverMs) ? {} : { serverTime: new Date(serverMs) }) });
  }

  function named({ verb, what }: ApiCall, error: unknown): KubeError {
    const known = isKubeError(error) ? error : new KubeError('BadAnswer', String(error), { cause: error });
    const { code, message, status, reason, causes, retryAfterSeconds } = known;
    return new KubeError(code, `${verb} ${what} at ${server}: ${message}`, {
      causes,
      cause: known,
      ...(status === undefined ? {} : { status }),
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
}

interface CallEnd {
  readonly code: string;
  readonly start: number;
  /** The header of that name. */
  readonly date?: string | undefined;
}

function outcomeOf(answer: HttpResponse | HttpStream): CallOutcome {
  const { status, headers } = answer;
  const retryAfterSeconds = parseRetryAfter(headers['retry-after']);
  const overloaded = status === 503 || (status === 429 && !isBudgetDenial(answer));
  return retryAfterSeconds !== undefined && overloaded ? { overloaded, retryAfterSeconds } : { overloaded };
}

/** A PodDisruptionBudget denies an eviction with 429, too: the server is not overloaded, and other calls need not wait. */
function isBudgetDenial({ body }: HttpResponse | HttpStream): boolean {
  return typeof body === 'string' && statusIn(body)?.details?.causes?.some(isDisruptionBudget) === true;
}
