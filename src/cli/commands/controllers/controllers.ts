/** `kubenode controllers`: the controllers of a cluster, in one process. Several may run: one leads, and the others wait. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import {
  GROUP,
  NAMESPACE,
  PRINCIPAL_APPROVER,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
} from '../../../api/names.ts';
import { createDefender } from '../../../defender/defender.ts';
import { createCallWindow } from '../../../defender/facts/call-window.ts';
import type { HttpServer } from '../../../defender/http/server.ts';
import type { Client } from '../../../kube/client/client.ts';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import { impersonateServiceAccount } from '../../../kube/controller/principals.ts';
import { runControllers } from '../../../kube/controller/run.ts';
import { createLeaseElection, type LeaseElection } from '../../../kube/leader/election.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '../../../kube/process/logger.ts';
import { createLoopDelay } from '../../../kube/process/loop-delay.ts';
import { createMetrics } from '../../../kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../kube/process/metrics-runtime.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { connectOptionsFor } from '../../principal.ts';
import { addHttpOptions, filesOf, type HttpFlags, startHttp } from './http.ts';
import { createIdentity } from './identity.ts';

const HELP = `
Runs the controllers of one cluster: the Defender, which sweeps the ledger of grants and reports the state of the
DefenderPolicies; the approver of the certificates of agents and their kubelets; and the one that deletes bootstrap tokens. Run several: one leads, the others take over when it ends. It can be killed at any time. It acts
as the user kubenode-controllers and impersonates the account of each controller: with credentials of that user, or
with those of an administrator.

With --defender-port other tools ask the Defender over HTTPS: docs/guides/http-api.md.

Examples:
  kubenode controllers --context test --port 8080
  kubenode controllers --defender-port 8443 --defender-cert tls.crt --defender-key tls.key`;

interface Flags extends ConnectionFlags, HttpFlags {
  readonly port?: number;
  readonly host: string;
  readonly logLevel: LogLevel;
}

const LEASE = { namespace: NAMESPACE, name: 'kubenode-controllers' };

export function createControllersCommand(io: Io): Command {
  const command = new Command('controllers')
    .description('run the controllers of a cluster: the Defender, and the approver of certificates')
    .option(
      '--port <n>',
      'port for /healthz, /readyz and /metrics; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--host <address>', 'address for --port to listen on', '127.0.0.1')
    .addOption(
      new Option('--log-level <level>', 'lowest level to log').choices([...LOG_LEVELS]).default('info'),
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(addHttpOptions(command)).action((flags: Flags) => controllers(io, flags));
}

async function controllers(io: Io, flags: Flags): Promise<void> {
  const { clock, signal } = io;
  filesOf(flags);
  const log = createLogger({ level: flags.logLevel, stream: { write: (line) => io.err(line) }, clock });
  const metrics = createMetrics();
  const runtime = createRuntimeMetrics(metrics, createLoopDelay());
  const calls = createCallWindow(clock);
  const own = await connectOptionsFor(io, flags, PRINCIPAL_CONTROLLERS);
  const connection: ConnectOptions = {
    ...own,
    onCall: (report) => {
      runtime.call(report);
      calls.add(report);
    },
  };
  const identity = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const shared = { clock, log, random: systemRandom };
  const client = await connect(connection);
  const connectAs = (name: string): Promise<Client> =>
    connect({ ...connection, impersonate: impersonateServiceAccount({ namespace: NAMESPACE, name }) });
  // The reviews of HTTP callers have connections of their own, so that they never delay a write of the ledger.
  const [defenderClient, approverClient, reviewClient] = await Promise.all([
    connectAs(PRINCIPAL_DEFENDER),
    connectAs(PRINCIPAL_APPROVER),
    connectAs(PRINCIPAL_DEFENDER),
  ]);
  const lease = watchLeading(
    createLeaseElection({ ...shared, client, identity, name: LEASE, metrics: runtime.lease }),
  );
  const { leads } = lease;
  const defender = createDefender({
    ...shared,
    client: defenderClient,
    calls,
    leads,
    metrics,
    watch: runtime.watch,
  });
  const identities = createIdentity({
    ...shared,
    client: approverClient,
    leads,
    metrics,
    watch: runtime.watch,
  });
  let http: HttpServer | undefined;
  try {
    http = await startHttp(flags, {
      defender,
      client: reviewClient,
      clock,
      log,
      leads,
      leader: () => lease.holder(),
    });
    await runControllers(
      {
        ...shared,
        controllers: [defender.controller, ...identities.controllers],
        views: { ...identities.views, ...defender.views },
        connect: (principal) => connect({ ...connection, ...principal }),
        reporter: { domain: GROUP, instance: identity },
        lease,
        metrics,
        runtime,
        ...(flags.port === undefined ? {} : { health: healthOptions(flags, flags.port, log) }),
      },
      signal,
    );
  } finally {
    await http?.close();
    defender.close();
    await Promise.all([client, defenderClient, approverClient, reviewClient].map((each) => each.close()));
  }
}

function healthOptions(
  { host }: Flags,
  port: number,
  log: ReturnType<typeof createLogger>,
): { port: number; host: string; listening: (url: string) => void } {
  return { port, host, listening: (url) => log.info('health server started', { url }) };
}

/** The election, and whether its Lease is held now. */
function watchLeading(election: LeaseElection): LeaseElection & { readonly leads: () => boolean } {
  let term: Awaited<ReturnType<LeaseElection['campaign']>> | undefined;
  return {
    campaign: async (signal) => {
      term = await election.campaign(signal);
      return term;
    },
    holder: () => election.holder(),
    leads: () => term?.held() === true,
  };
}
