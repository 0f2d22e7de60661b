/** Reads which versions the API servers of this cluster run, each at its own address: behind one address they may differ. */

import type { Client } from '../../../kube/client/client.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import type { ServerVersions } from '../../../rollout/kubelet-skew.ts';
import { versionIn } from '../../../rollout/server-version.ts';
import type { PublishedServers } from './server-view.ts';

export interface ServerVersionsOptions {
  readonly client: Pick<Client, 'raw' | 'server'>;
  readonly servers: PublishedServers;
  /** A client of the API server at this address. It is closed after one call. */
  readonly connectTo: (url: string) => Promise<Pick<Client, 'raw' | 'close'>>;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/** Never rejects: a server that does not answer makes them Unknown. */
export type ReadServerVersions = () => Promise<ServerVersions>;

const TIMEOUT_MS = 5_000;
/** Several sets are reconciled at once. An upgrade of a server takes longer than this. */
const KEEP_MS = 15_000;

export function createServerVersionsReader(options: ServerVersionsOptions): ReadServerVersions {
  const { client, servers, connectTo, clock, timeoutMs = TIMEOUT_MS } = options;
  let kept: { readonly at: number; readonly versions: Promise<ServerVersions> } | undefined;
  return read;

  function read(): Promise<ServerVersions> {
    const now = clock.monotonicMs();
    if (!kept || now - kept.at >= KEEP_MS) kept = { at: now, versions: readAll() };
    return kept.versions;
  }

  async function readAll(): Promise<ServerVersions> {
    const because = servers.staleReason();
    if (because !== undefined) return { state: 'Unknown', because };
    try {
      const own = async (): Promise<string> => versionAt(client.server, client);
      const others = servers.urls().map((url) => async () => connectedVersion(url));
      return { state: 'Known', versions: await runConcurrently([own, ...others], (ask) => ask()) };
    } catch (error) {
      return { state: 'Unknown', because: messageOf(error) };
    }
  }

  async function connectedVersion(url: string): Promise<string> {
    const server = await connectTo(url);
    try {
      return await versionAt(url, server);
    } finally {
      await server.close();
    }
  }

  async function versionAt(url: string, server: Pick<Client, 'raw'>): Promise<string> {
    const version = versionIn(await server.raw('/version', { timeoutMs }));
    if (version === undefined) throw new Error(`${url}/version: expected gitVersion in the answer`);
    return version;
  }
}
