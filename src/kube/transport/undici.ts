/** The transport of the controllers: pooled keep-alive connections with undici. */
import { Pool } from 'undici';
import type { Connection, TlsMaterial } from '../auth/credentials.ts';
import {
  CONNECT_TIMEOUT_MS,
  createTransport,
  KEEP_ALIVE_MS,
  MAX_CONNECTIONS,
  type TransportOptions,
  type Wire,
} from './base.ts';
import type { Transport } from './transport.ts';

interface Pools {
  readonly tls: TlsMaterial;
  readonly calls: Pool;
  readonly streams: Pool;
}

export function createUndiciTransport(connection: Connection, options: TransportOptions = {}): Transport {
  return createTransport(undiciWire(connection.server, options), connection, options);
}

function undiciWire(server: string, options: TransportOptions): Wire {
  const { origin } = new URL(server);
  const { maxConnections = MAX_CONNECTIONS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const all = new Set<Pool>();
  let pools: Pools | undefined;

  return {
    send: async ({ method, path, headers, body, signal }, { tls }, kind) => {
      const answer = await poolsFor(tls)[kind].request({ method, path, headers, body: body ?? null, signal });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    },
    close: async () => {
      await Promise.all([...all].map((pool) => pool.destroy()));
    },
  };

  /** New certificates need new connections; requests in flight on the old ones are finished. */
  function poolsFor(tls: TlsMaterial): Pools {
    if (pools?.tls === tls) return pools;
    for (const pool of all) retire(pool);
    pools = { tls, calls: open(tls, maxConnections), streams: open(tls, null) };
    return pools;
  }

  function open({ insecure, ...material }: TlsMaterial, connections: number | null): Pool {
    const pool = new Pool(origin, {
      connections,
      connect: { ...material, rejectUnauthorized: !insecure, timeout: connectTimeoutMs },
      // One request at a time on a connection, and no HTTP/2, so that a hanging connection affects one call only.
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // deadline.ts has the time limits.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    all.add(pool);
    return pool;
  }

  function retire(pool: Pool): void {
    const forget = (): boolean => all.delete(pool);
    // It rejects when `close` destroys the pool meanwhile, which ends it too.
    pool.close().then(forget, forget);
  }
}
