/** Reads the lines of a fleet from its hub again and again, over one connection. */

import { describeError } from '../../cli/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ShownLines } from './fleet-lines.ts';

export interface HubReaderOptions {
  readonly connect: () => Promise<Client>;
  readonly read: (client: Client) => Promise<ShownLines>;
  /** Aborts at the end of the command. An error after that is not a fault of the hub. */
  readonly signal: AbortSignal;
}

export interface HubReader {
  /** Resolves to `before` when the command ends meanwhile. */
  next(before: ShownLines): Promise<ShownLines>;
  close(): Promise<void>;
}

/** Connects again only after a failed read, because a hub that starts again may have another port. A hub that is down is a line, too. */
export function createHubReader({ connect, read, signal }: HubReaderOptions): HubReader {
  let client: Client | undefined;
  return { next, close };

  async function next(before: ShownLines): Promise<ShownLines> {
    try {
      client ??= await connect();
      return await read(client);
    } catch (error) {
      await close();
      return signal.aborted ? before : new Map([['hub', `  hub: ${describeError(error).text}`]]);
    }
  }

  async function close(): Promise<void> {
    const open = client;
    client = undefined;
    await open?.close();
  }
}
