/** From a kubeconfig to a client, in one call. */

import type { CallReport } from './calls.ts';
import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import { type ConfigOptions, loadConfig } from './config.ts';
import type { TransportOptions } from './exchange.ts';
import { fencedTransport } from './lease-fence.ts';
import type { Limiter } from './limiter.ts';
import { restClient } from './rest-client.ts';
import { systemClock } from './system-clock.ts';
import { undiciTransport } from './undici-transport.ts';

export interface ConnectOptions extends Omit<ConfigOptions, 'clock'> {
  readonly clock?: Clock;
  readonly onCall?: (report: CallReport) => void;
  readonly limiter?: Limiter;
  readonly transport?: TransportOptions;
  /** Throws when nothing may be written now: `term.fence` of a Lease. Asked as each write leaves. */
  readonly fence?: () => void;
}

/** Makes no call: a server that is down is found by the first one. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { clock = systemClock(), onCall, limiter, fence } = options;
  const { connection } = await loadConfig({ ...options, clock });
  const transport = undiciTransport(connection, options.transport);
  return restClient(fence ? fencedTransport(transport, fence) : transport, {
    server: connection.server,
    clock,
    ...(onCall ? { onCall } : {}),
    ...(limiter ? { limiter } : {}),
  });
}
