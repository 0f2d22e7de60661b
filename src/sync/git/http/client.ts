/**
 * HTTP for isomorphic-git, with what its own client lacks: a limit in time, in silence and in size, our authorities, a token that is
 * never sent elsewhere, and errors with codes.
 */
import { type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as secure } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { GitError, isGitError } from '../errors.ts';
import { gitNetworkError } from '../network-errors.ts';
import type { GitLimits } from '../options.ts';
import { gitStatusError } from './status-errors.ts';

// Every answer of a git server ends with an empty packet.
const FLUSH = '0000';

export interface HttpOptions {
  readonly display: string;
  readonly limits: GitLimits;
  readonly credential?: string;
  readonly ca?: string;
}

/** For one operation: its requests share one budget of time and bytes. */
export function createGitHttpClient(options: HttpOptions, signal: AbortSignal | undefined): HttpClient {
  const deadline = AbortSignal.timeout(options.limits.timeoutMs);
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline;
  const budget = { bytes: options.limits.maxBytes };
  return { request };

  async function request({
    url,
    method = 'GET',
    headers = {},
    body,
  }: GitHttpRequest): Promise<GitHttpResponse> {
    const payload = body ? await collect(body) : undefined;
    try {
      const answer = await send(url, { method, headers: { ...headers, ...authorization(options) } }, payload);
      const refused = gitStatusError(options, answer, method);
      if (refused) {
        answer.destroy();
        throw refused;
      }
      return {
        url,
        method,
        statusCode: answer.statusCode ?? 0,
        statusMessage: answer.statusMessage ?? '',
        headers: headersOf(answer),
        body: piecesOf(await wholeOf(answer)),
      };
    } catch (error) {
      throw explain(error);
    }
  }

  function send(url: string, init: RequestOptions, payload: Buffer | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const tls = url.startsWith('https:') ? { ca: authorities(options.ca) } : {};
      const open = url.startsWith('https:') ? secure : plain;
      const call = open(url, { ...init, ...tls, signal: ended, timeout: options.limits.idleMs }, resolve);
      call.on('timeout', () => call.destroy(silence(options)));
      call.on('error', reject);
      call.end(payload);
    });
  }

  /** The whole answer, within the budget: isomorphic-git holds it in memory anyway, and takes a part of it for all. */
  async function wholeOf(answer: IncomingMessage): Promise<Uint8Array> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of answer as AsyncIterable<Buffer>) {
        budget.bytes -= piece.byteLength;
        if (budget.bytes < 0) throw tooLarge(options);
        pieces.push(piece);
      }
    } finally {
      answer.destroy();
    }
    const whole = Buffer.concat(pieces);
    if (whole.toString('latin1', whole.length - FLUSH.length) !== FLUSH) throw cutOff(options);
    return whole;
  }

  function explain(error: unknown): GitError {
    if (isGitError(error)) return error;
    if (signal?.aborted) return new GitError('Aborted', 'the call was given up', { cause: signal.reason });
    if (deadline.aborted) return slow(options);
    return gitNetworkError(error, options.display);
  }
}

/** GitHub, GitLab, Gitea and Bitbucket take a token as the password of any user; others want `user:password`. */
function authorization({ credential }: HttpOptions): Record<string, string> {
  const text = credential?.trim();
  if (!text) return {};
  const pair = text.includes(':') ? text : `git:${text}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function authorities(ca: string | undefined): string[] | undefined {
  return ca ? [...rootCertificates, ca] : undefined;
}

async function collect(body: AsyncIterableIterator<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

function headersOf(answer: IncomingMessage): Record<string, string> {
  const all = Object.entries(answer.headers);
  return Object.fromEntries(
    all.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

async function* piecesOf(whole: Uint8Array): AsyncGenerator<Uint8Array> {
  yield whole;
}

function cutOff({ display }: HttpOptions): GitError {
  return new GitError('Corrupt', 'the answer ends in the middle', {
    where: display,
    hint: 'sync asks again; if it stays, look at the server and at proxies between',
  });
}

function silence({ display, limits }: HttpOptions): GitError {
  return new GitError('Timeout', `the server sent nothing for ${limits.idleMs / 1000} s`, {
    where: display,
    hint: 'sync tries again; if it stays, look at the server and the network between',
  });
}

function slow({ display, limits }: HttpOptions): GitError {
  return new GitError('Timeout', `the call was not done within ${limits.timeoutMs / 1000} s`, {
    where: display,
    hint: 'sync tries again; if it stays, the server is too slow or the repository too large',
  });
}

function tooLarge({ display, limits }: HttpOptions): GitError {
  return new GitError('TooLarge', `the answer is larger than ${limits.maxBytes} bytes`, {
    where: display,
    hint: 'keep large files out of the fleet repository, or fetch it by ssh, which needs less memory',
  });
}
