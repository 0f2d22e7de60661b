/** The account of what went over the wire. Promises such as "0 writes" are checked here, not on what a part says of itself. */
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
  /** Whether the API server was asked. */
  readonly reached: boolean;
  /** What the API server answered, whatever the client got to hear. */
  readonly serverStatus: number | undefined;
  /** What the client got to hear; undefined when there was no answer, or not yet. */
  readonly status: number | undefined;
  readonly fault: string | undefined;
  /** Undefined while it goes on: a watch, a held request. */
  readonly endedAt: Date | undefined;
}

export type OpenExchange = { -readonly [Field in keyof Exchange]: Exchange[Field] };

export function hashOf(body: Buffer): string | undefined {
  return body.length === 0 ? undefined : createHash('sha256').update(body).digest('hex');
}

/** Did it ask for a change? A dry run does not. */
export function isWrite({ verb, query }: Call): boolean {
  return WRITES.has(verb) && query['dryRun'] === undefined;
}

/** Changes that the API server carried out, heard of or not. */
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
