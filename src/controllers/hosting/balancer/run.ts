/** A balancer: clients connect to one port, and reach an API server that is ready. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { LOOPBACK } from '../../../local/processes/commands.ts';
import type { Clock } from '../../../os/clock.ts';
import { closeServer, listenOn } from '../../../os/net/http-server.ts';
import { ALL_ADDRESSES } from '../../../os/net/ports.ts';
import { createBackends, watchBackends } from './backends.ts';
import { formatHealth } from './health.ts';
import { createRelay } from './relay.ts';

/**
 * Clients of other machines keep neither the files nor the ports of this one: each connection has a port of loopback to the API server, of
 * which Linux has 28,000 by default, for both gateways and for hosting, managers and controllers.
 */
const MAX_OUTSIDE = 4096;

export interface BalancerOptions {
  /** How many connections of other machines it has at most. Default: 4096. */
  readonly maxOutside?: number;
  /** The port of clients, which several balancers share. */
  readonly port: number;
  /** Whether clients of other machines reach it, too. */
  readonly isOutside: boolean;
  readonly healthPort: number;
  /** The ports of the API servers. One that does not run gets no connection. */
  readonly backends: readonly number[];
  /** The file with the CA of the API servers. It is read again and again. */
  readonly caFile: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves when the signal aborts. */
export async function runBalancer(options: BalancerOptions): Promise<void> {
  const { port, healthPort, caFile, clock, signal } = options;
  const host = options.isOutside ? ALL_ADDRESSES : LOOPBACK;
  const backends = createBackends(options.backends);
  const { maxOutside = MAX_OUTSIDE } = options;
  const relay = createRelay(backends, options.isOutside ? { maxConnections: maxOutside } : {});
  const health = createServer((_, response) => response.end(formatHealth(backends)));
  await listenOn(relay, 'the API servers', { host, port, isShared: true });
  await listenOn(health, 'health', { host: LOOPBACK, port: healthPort });
  await watchBackends(backends, { readCa: () => readFile(caFile, 'utf8'), clock, signal });
  relay.close();
  await closeServer(health);
}
