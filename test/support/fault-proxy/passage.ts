/** One request on its way through the proxy, in the words that faults are made of. */
import type { Readable } from 'node:stream';
import type { Call } from './call.ts';

/** Did the API server see the request, and act on it, before the fault? */
export type When = 'before' | 'after';

export interface Fault {
  /** For the log. */
  readonly name: string;
  act(passage: Passage): Promise<void>;
  /** Sees what the server says to requests that match before the fault is due. */
  readonly observe?: (call: Call, answer: WholeAnswer) => void;
}

export interface Passage {
  readonly call: Call;
  /** Aborted when the proxy closes or is reset: whatever waits gives up. */
  readonly ending: AbortSignal;
  /** Resolves when the client has gone, or the proxy closes. */
  readonly gone: Promise<void>;
  /** As if there were no proxy. */
  pass(): Promise<void>;
  /** Asks the server and reads its answer to the end, also when the client has gone meanwhile. Uncompressed. */
  ask(): Promise<WholeAnswer>;
  /** Asks the server and gives the body as it comes. Uncompressed; ends with the client. */
  open(): Promise<Readable>;
  /** Writes the head of the answer: after `open` that of the server. */
  begin(head?: Head): void;
  /** Resolves when the bytes are on their way. */
  write(piece: Buffer): Promise<void>;
  end(): void;
  reply(answer: WholeAnswer): void;
  /** Closes the client's connection, in order or with a TCP reset. */
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
