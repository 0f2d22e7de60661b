/** Creates a client from a kubeconfig in one call. */
import type { Clock } from '../../os/clock.ts';
import { createSystemClock } from '../../os/system-clock.ts';
import { type ConfigOptions, loadConfig } from '../auth/config.ts';
import { createFencedTransport } from '../leader/fence.ts';
import type { TransportOptions } from '../transport/base.ts';
import { createHttpsTransport } from '../transport/https.ts';
import type { Limiter } from '../transport/limiter.ts';
import type { Client } from './client.ts';
import type { CallReport } from './request.ts';
import { createRestClient } from './rest-client.ts';

export interface ConnectOptions extends Omit<ConfigOptions, 'clock'> {
  readonly clock?: Clock;
  readonly onCall?: (report: CallReport) => void;
  readonly limiter?: Limiter;
  readonly transport?: TransportOptions;
  /** Throws when writes are not allowed, for example `term.fence` of a Lease. Called as each write is sent. */
  readonly fence?: () => void;
}

/** Sends no request: an unreachable server is noticed by the first call. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { clock = createSystemClock(), onCall, limiter, fence } = options;
  const { connection } = await loadConfig({ ...options, clock });
  const transport = createHttpsTransport(connection, options.transport);
  return createRestClient(fence ? createFencedTransport(transport, fence) : transport, {
    server: connection.server,
    clock,
    ...(onCall ? { onCall } : {}),
    ...(limiter ? { limiter } : {}),
  });
}
