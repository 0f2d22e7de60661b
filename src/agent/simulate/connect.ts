/** The connection of one simulated agent, with its own certificate. */
import { createCredentials } from '../../kube/auth/credentials.ts';
import type { Client } from '../../kube/client/client.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { createRestClient } from '../../kube/client/rest-client.ts';
import { optional } from '../../kube/objects/optional.ts';
import { createHttpsTransport } from '../../kube/transport/https.ts';
import type { Clock } from '../../os/clock.ts';

export interface SimulatedConnection {
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly clock: Clock;
  /** Called after each request that was answered or failed. */
  readonly onCall?: (report: CallReport) => void;
}

export function connectSimulated({ server, clock, onCall, ...pem }: SimulatedConnection): Client {
  const credentials = createCredentials(pem, { clock, origin: 'a simulated agent' });
  const connection = { server, credentials, userAgent: 'kubenode-agent-simulated' };
  return createRestClient(createHttpsTransport(connection), { server, clock, ...optional('onCall', onCall) });
}
