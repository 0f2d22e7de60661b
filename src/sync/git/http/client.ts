/**
 * HTTP client for isomorphic-git. Its own client has no timeout, idle timeout or size limit, no custom certificate authorities, and
 * no error codes; and it may send the token to another host.
 */
import { type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as secure } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { GitError, isGitError } from '../errors.ts';
import type { GitLimits, GitTokens } from '../options.ts';
import { gitNetworkError } from './network-errors.ts';
import { type GitService, gitStatusError } from './status-errors.ts';

// Every response of a git server ends with a flush packet.
const FLUSH = '0000';

export interface HttpOptions {
  readonly display: string;
  readonly limits: GitLimits;
  readonly credential?: string;
  /** Issues what is sent in place of `credential`. */
  readonly tokens?: GitTokens;
  readonly ca?: string;
  /** Default: to fetch. */
  readonly service?: GitService;
}

/** Creates the client of one operation: its requests share one limit of time and of bytes. */
export function createGitHttpClient(options: HttpOptions, signal: AbortSignal | undefined): HttpClient {
  const deadline = AbortSignal.timeout(options.limits.timeoutMs);
  const stop = signal ? AbortSignal.any([signal, deadline]) : deadline;
  let bytesLeft = options.limits.maxBytes;
  return { request };

  async function request({
    url,
    method = 'GET',
    headers = {},
    body,
  }: GitHttpRequest): Promise<GitHttpResponse> {
    const payload = body ? await collectBody(body) : undefined;
    try {
      const used = await withCredential(options, signal);
      const response = await send(
        url,
        { method, headers: { ...headers, ...authorization(used, url) } },
        payload,
      );
      rejectStatus(used, response, method);
      return {
        url,
        method,
        statusCode: response.statusCode ?? 0,
        statusMessage: response.statusMessage ?? '',
        headers: headersOf(response),
        body: chunksOf(await readAll(response)),
      };
    } catch (error) {
      throw toGitError(error);
    }
  }

  function send(url: string, init: RequestOptions, payload: Buffer | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const tls = url.startsWith('https:') ? { ca: authorities(options.ca) } : {};
      const open = url.startsWith('https:') ? secure : plain;
      const call = open(url, { ...init, ...tls, signal: stop, timeout: options.limits.idleMs }, resolve);
      call.on('timeout', () => call.destroy(idleTimeout(options)));
      call.on('error', reject);
      call.end(payload);
    });
  }

  /** The complete body. isomorphic-git holds it in memory anyway, and would accept a truncated one as complete. */
  async function readAll(response: IncomingMessage): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytesLeft -= chunk.byteLength;
        if (bytesLeft < 0) throw tooLarge(options);
        chunks.push(chunk);
      }
    } finally {
      response.destroy();
    }
    const body = Buffer.concat(chunks);
    if (body.toString('latin1', body.length - FLUSH.length) !== FLUSH) throw truncated(options);
    return body;
  }

  function toGitError(error: unknown): GitError {
    if (isGitError(error)) return error;
    if (signal?.aborted) return new GitError('Aborted', 'the call was canceled', { cause: signal.reason });
    if (deadline.aborted) return timedOut(options);
    return gitNetworkError(error, options.display);
  }
}

function rejectStatus(options: HttpOptions, response: IncomingMessage, method: string): void {
  const error = gitStatusError(options, response, method);
  if (!error) return;
  const { tokens, credential = '' } = options;
  if (isGitError(error, 'Unauthorized')) tokens?.refused(credential);
  response.destroy();
  throw error;
}

async function withCredential(options: HttpOptions, signal: AbortSignal | undefined): Promise<HttpOptions> {
  return options.tokens ? { ...options, credential: await options.tokens.get(signal) } : options;
}

/** GitHub, GitLab, Gitea and Bitbucket accept a token as the password of any user; others need `user:password`. */
function authorization({ credential, display }: HttpOptions, url: string): Record<string, string> {
  const text = credential?.trim();
  // The Secret permits the declared host only, whatever address a server makes the library request.
  if (!text || new URL(url).origin !== new URL(display).origin) return {};
  const pair = text.includes(':') ? text : `git:${text}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function authorities(ca: string | undefined): string[] | undefined {
  return ca ? [...rootCertificates, ca] : undefined;
}

export async function collectBody(
  body: AsyncIterableIterator<Uint8Array> | Iterable<Uint8Array>,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function headersOf(response: IncomingMessage): Record<string, string> {
  const all = Object.entries(response.headers);
  return Object.fromEntries(
    all.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

async function* chunksOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

function truncated({ display }: HttpOptions): GitError {
  return new GitError('Corrupt', 'the response of the server is truncated', {
    where: display,
    hint: 'sync retries. If this persists, check the server and the proxies in front of it',
  });
}

function idleTimeout({ display, limits }: HttpOptions): GitError {
  return new GitError('Timeout', `the server sent nothing for ${limits.idleMs / 1000} s`, {
    where: display,
    hint: 'sync retries. If this persists, check the server and the network',
  });
}

function timedOut({ display, limits }: HttpOptions): GitError {
  return new GitError('Timeout', `the call did not finish within ${limits.timeoutMs / 1000} s`, {
    where: display,
    hint: 'sync retries. If this persists, the server is too slow or the repository too large',
  });
}

function tooLarge({ display, limits }: HttpOptions): GitError {
  return new GitError('TooLarge', `the response is larger than ${limits.maxBytes} bytes`, {
    where: display,
    hint: 'keep large files out of the fleet repository, or fetch it by ssh, which needs less memory',
  });
}
