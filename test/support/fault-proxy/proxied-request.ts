/** One request in the proxy, and the operations that faults are made of. */
import type { Readable } from 'node:stream';
import type { Call } from './call.ts';

/** Whether the fault comes before the API server receives the request, or after it acted on it. */
export type When = 'before' | 'after';

export interface Fault {
  /** For the log. */
  readonly name: string;
  act(proxied: ProxiedRequest): Promise<void>;
  /** Called with the server's answers to matching requests before the fault is due. */
  readonly observe?: (call: Call, answer: WholeAnswer) => void;
}

export interface ProxiedRequest {
  readonly call: Call;
  /** Aborted when the proxy closes or is reset: waiting requests end. */
  readonly ending: AbortSignal;
  /** Resolves when the client disconnects, or the proxy closes. */
  readonly disconnected: Promise<void>;
  /** Of the API server's answer, when it has arrived. */
  readonly serverStatus: number | undefined;
  /** Forwards request and answer unchanged. */
  forward(): Promise<void>;
  /** Sends the request and reads the whole answer, also if the client disconnects meanwhile. Uncompressed. */
  ask(): Promise<WholeAnswer>;
  /** Sends the request and returns the body as a stream. Uncompressed; ends with the client. */
  open(): Promise<Readable>;
  /** Writes the head of the answer: after `open` by default that of the server. */
  begin(head?: Head): void;
  /** Resolves when the bytes are sent. */
  write(piece: Buffer): Promise<void>;
  end(): void;
  reply(answer: WholeAnswer): void;
  /** Closes the client's connection, gracefully or with a TCP reset. */
  cut(how: 'close' | 'reset'): void;
}

export interface Head {
  readonly status: number;
  readonly headers: Headers;
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WholeAnswer extends Head {
  readonly body: Buffer;
}
