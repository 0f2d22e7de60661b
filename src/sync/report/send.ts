/**
 * Sends one request to the API of a git host, with limits of time and size. Redirects are answers: a token is sent to the host that the
 * Secret permits, and to no other.
 */
import { type IncomingMessage, request as plain } from 'node:http';
import { type RequestOptions, request as secure } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { Clock } from '../../os/clock.ts';
import { withDeadline } from '../../os/deadline.ts';
import { readBegin } from '../../os/net/limited.ts';

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How much of the answer is read. */
  readonly maxBytes?: number;
}

export interface HostAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The begin of the body. */
  readonly body: string;
}

export interface SendOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Certificate authorities besides those of Node, as PEM. */
  readonly ca?: string;
}

/** A status as GitHub answers it has some kilobytes. */
const MAX_BYTES = 256 * 1024;
/** Hosts answer within a second. A Lease is lost after 15 s at the earliest, so no other process sends a newer status before. */
const TIMEOUT_MS = 10_000;

/** Rejects without an answer: the host may have accepted the status. */
export async function sendToGitHost(
  { method, url, headers, body, maxBytes = MAX_BYTES }: HostRequest,
  { clock, signal, ca }: SendOptions,
): Promise<HostAnswer> {
  const expired = (): Error =>
    Object.assign(new Error(`no answer within ${TIMEOUT_MS / 1000} s`), { code: 'ETIMEDOUT' });
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return await withDeadline({ clock, ms: TIMEOUT_MS, signal, expired }, (ended) =>
    exchange(
      { url, body, maxBytes },
      {
        method,
        headers: { ...headers, ...length },
        signal: ended,
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      },
    ),
  );
}

interface Exchange {
  readonly url: string;
  readonly body: string | undefined;
  readonly maxBytes: number;
}

async function exchange({ url, body, maxBytes }: Exchange, options: RequestOptions): Promise<HostAnswer> {
  const open = url.startsWith('https:') ? secure : plain;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const call = open(url, options, resolve);
    call.on('error', reject);
    call.end(body);
  });
  try {
    const { statusCode = 0, headers } = response;
    const read = await readBegin(response, maxBytes);
    return { status: statusCode, headers, body: read.toString('utf8') };
  } finally {
    response.destroy();
  }
}
