/** The log of all requests. Promises such as "0 writes" are checked here, not with the reports of the program under test. */
import { createHash } from 'node:crypto';
import { type Call, WRITES } from './call.ts';

export interface Exchange extends Call {
  readonly number: number;
  readonly at: Date;
  readonly listener: string;
  /** CN of the client's certificate, or of the listener's own; undefined for a token. */
  readonly user: string | undefined;
  readonly userAgent: string | undefined;
  /** SHA-256 of the request's body; undefined without one. */
  readonly bodyHash: string | undefined;
  /** Whether the request was forwarded to the API server. */
  readonly reached: boolean;
  /** Status of the API server, whatever the client received. */
  readonly serverStatus: number | undefined;
  /** Status that the client received; undefined without an answer, or before it. */
  readonly status: number | undefined;
  readonly fault: string | undefined;
  /** Undefined while the request is open: a watch, a held request. */
  readonly endedAt: Date | undefined;
}

export type OpenExchange = { -readonly [Field in keyof Exchange]: Exchange[Field] };

export function hashOf(body: Buffer): string | undefined {
  return body.length === 0 ? undefined : createHash('sha256').update(body).digest('hex');
}

/** Whether it requests a change; a dry run does not. */
export function isWrite({ verb, query }: Call): boolean {
  return WRITES.has(verb) && query['dryRun'] === undefined;
}

/** Changes that the API server made, whether or not the client received the answer. */
export function writesIn(log: readonly Exchange[]): readonly Exchange[] {
  return log.filter((exchange) => isWrite(exchange) && succeeded(exchange.serverStatus));
}

function succeeded(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** `2 list nodes 200`, for messages and transcripts. */
export function line(exchange: Exchange): string {
  const { number, verb, resource, subresource, name, path, status, fault } = exchange;
  const what = resource ? [resource, subresource].filter(Boolean).join('/') : path;
  return [number, verb, what, name, status ?? '-', fault && `(${fault})`].filter(Boolean).join(' ');
}
