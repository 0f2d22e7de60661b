/** Serves the console with a login: each person sees what the API server permits to that person, and the console has no rights. */
import { randomBytes } from 'node:crypto';
import type { ConnectToCluster } from '../../../console/feeds/connected-clusters.ts';
import { createLoginAccess } from '../../../console/login/access.ts';
import type { ConnectUser } from '../../../console/login/identity.ts';
import { createPermittedPast } from '../../../console/login/permitted-past.ts';
import {
  createEventsReader,
  createEventsTurns,
  createExplainer,
  createExplainTurns,
} from '../../../console/server/explainer.ts';
import { readPageFiles } from '../../../console/server/page-files.ts';
import { withoutContact } from '../../../console/server/past.ts';
import { startConsoleServer } from '../../../console/server/server.ts';
import { loadConfig } from '../../../kube/auth/config.ts';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ConnectionLimits } from '../../../os/net/connection-limits.ts';
import { findKubeconfig } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { createCommandLog } from '../../log-options.ts';
import { createWhyText } from './explain.ts';
import { type ConsoleFlags, homeName, untilAborted } from './flags.ts';
import { findOwnCluster, openConsoleFleet } from './fleet.ts';
import { readIssuer } from './issuer.ts';
import { readLoginClusters } from './login-clusters.ts';
import { openPast } from './past.ts';

/** As many bits as a key: an id is never guessed. */
const ID_BYTES = 32;
/** Behind an Ingress all people have one address, and each page keeps a connection. */
const CONNECTIONS: ConnectionLimits = { total: 500, perAddress: 450, reserved: 50 };

export async function serveWithLogin(io: Io, flags: ConsoleFlags): Promise<void> {
  const { clock, signal } = io;
  const { host, port, url } = flags;
  const { options, server: ownServer } = await ownConnection(io, flags);
  const loginClusters = await readLoginClusters(io, flags.loginClusters, ownServer);
  const past = openPast(io, flags);
  const connectUser: ConnectUser = (bearer, onCall) =>
    connect({ ...options, bearer, ...optional('onCall', onCall) });
  const [explainTurns, eventsTurns] = [createExplainTurns(), createEventsTurns()];
  const log = createCommandLog(io, { logLevel: 'info' }, { write: (line) => io.err(line) });
  const access = createLoginAccess({
    clock,
    connectUser,
    createId: () => randomBytes(ID_BYTES).toString('base64url'),
    log,
    openFleet: async (client, ended, person) => {
      const name = (await findOwnCluster(client, ended)) ?? homeName(flags);
      const others = loginClusters?.open({ person, hub: client, signal: ended });
      const connectTo: ConnectToCluster = others?.connectTo ?? ((other) => Promise.reject(notShown(other)));
      const fleet = await openConsoleFleet(
        { clock, signal: ended },
        // The names of files of this machine are not shown.
        { client, flags: {}, name, connectTo },
      );
      const read = past && (fleet.isHub ? past : withoutContact(past));
      const isShown = (cluster: string, machine: string): boolean =>
        fleet.machine?.(cluster, machine) !== undefined;
      const shared = { clock, isShown, signal: ended };
      return {
        ...fleet,
        ...optional('past', read && createPermittedPast({ client, clock, read })),
        events: createEventsReader({ ...shared, turns: eventsTurns, read: fleet.readEvents }),
        why: createExplainer({
          ...shared,
          turns: explainTurns,
          explain: createWhyText(io, (cluster, onCall) =>
            others && cluster !== name ? others.reconnect(cluster, onCall) : person.reconnect(onCall),
          ),
        }),
      };
    },
    issuer: flags.oidc === undefined ? undefined : await readIssuer(io.cwd, flags.oidc),
    ...optional('publicUrl', url),
  });
  const files = await readPageFiles();
  const server = await startConsoleServer({ files, access, host, port, connections: CONNECTIONS });
  log.info('console started', { url: new URL(server.url).origin });
  io.out(`The console: ${url?.href ?? server.url}\n`);
  await untilAborted(signal);
  await server.close();
}

interface OwnConnection {
  readonly options: ConnectOptions;
  readonly server: string;
}

/** Rejects if a token must not be sent to the server: of the kubeconfig or the pod, only the server and its authority are used. */
async function ownConnection(io: Io, flags: ConsoleFlags): Promise<OwnConnection> {
  const options = {
    clock: io.clock,
    ...optional('kubeconfig', findKubeconfig(io, flags)),
    ...optional('context', flags.context),
  };
  const { connection } = await loadConfig({ ...options, bearer: () => Promise.resolve('') });
  await connection.credentials.current();
  return { options, server: connection.server };
}

/** Without --login-clusters the token of a person is sent to one API server only. */
function notShown(name: string): CliError {
  return new CliError(`a console with a login reads one cluster: open the console of ${name}`, {
    exitCode: EXIT.badInput,
  });
}
