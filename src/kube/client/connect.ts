/** From a kubeconfig to a client, in one call. */

import type { Clock } from '../../os/clock.ts';
import { createSystemClock } from '../../os/system-clock.ts';
import { type ConfigOptions, loadConfig } from '../auth/config.ts';
import { createFencedTransport } from '../leader/fence.ts';
import type { TransportOptions } from '../transport/base.ts';
import type { Limiter } from '../transport/limiter.ts';
import { createUndiciTransport } from '../transport/undici.ts';
import type { Client } from './client.ts';
import type { CallReport } from './request.ts';
import { createRestClient } from './rest-client.ts';

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
  const { clock = createSystemClock(), onCall, limiter, fence } = options;
  const { connection } = await loadConfig({ ...options, clock });
  const transport = createUndiciTransport(connection, options.transport);
  return createRestClient(fence ? createFencedTransport(transport, fence) : transport, {
    server: connection.server,
    clock,
    ...(onCall ? { onCall } : {}),
    ...(limiter ? { limiter } : {}),
  });
}
