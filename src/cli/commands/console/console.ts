/** `kubenode console`: a page in the browser that shows the fleet as it changes. It changes nothing. */
import { Command, Option } from 'commander';
import type { ShownConnection } from '../../../console/feeds/connected-clusters.ts';
import { createOpenAccess } from '../../../console/server/access.ts';
import {
  createEventsReader,
  createEventsTurns,
  createExplainer,
  createExplainTurns,
} from '../../../console/server/explainer.ts';
import { recordHistory } from '../../../console/server/history.ts';
import { readPageFiles } from '../../../console/server/page-files.ts';
import { withoutContact } from '../../../console/server/past.ts';
import { CONSOLE_PORT, startConsoleServer } from '../../../console/server/server.ts';
import type { Client } from '../../../kube/client/client.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { addConnectionOptions, connectFrom } from '../../connection.ts';
import { withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser, parseConsoleUrl, parsePrometheusUrl } from '../../option-parsers.ts';
import { createWhyText, type OnCall } from './explain.ts';
import { type ConsoleFlags, checkConsoleFlags, homeName, LOGIN_WAYS, untilAborted } from './flags.ts';
import { openConsoleFleet } from './fleet.ts';
import { serveWithLogin } from './login.ts';
import { connectShownCluster } from './member.ts';
import { openPast } from './past.ts';

const HELP = `
Serves one page: the clusters by stage, each machine with its state and what it waits for, rollouts with their batches, repairs
as timelines, grants against limits, and the limits over clusters. The page follows the changes by itself. It is read-only, and it shows
what your own credentials may read: anyone who opens it sees the same, so keep the address on this machine, or use --login.

--context selects the hub. The machines of a cluster are read by the context of its name in the kubeconfig, or with the Secret of the hub
that sync uses, if you may read it. A cluster without a hub is shown alone.

With --login everybody signs in, and sees what the API server permits to that person: of the kubeconfig only the server is used. It
shows one cluster then, the hub or another. --url is the address that people open, with TLS by a proxy, an Ingress or a Gateway in front:
docs/guides/console-login.md.

With --login-clusters the ID token of each person is also sent to the clusters of that kubeconfig, which has servers and CAs without
credentials, and contexts with the names of Cluster objects. These clusters must trust the same issuer; others are not shown.

With --prometheus-url the page of health shows up to 24 hours, one query a line at most every 10 seconds, however many people look at it.

Examples:
  kubenode console
  kubenode console --context hub --port 9000
  kubenode console --context hub --prometheus-url http://prometheus.monitoring:9090
  kubenode console --context hub --login token --host 10.0.0.5 --url https://console.example.com
  kubenode console --context hub --login oidc --oidc oidc.yaml --login-clusters clusters.yaml`;

export function createConsoleCommand(io: Io): Command {
  const command = new Command('console')
    .description('serve a page that shows the fleet as it changes, until Ctrl-C')
    .option(
      '--port <n>',
      'port to listen on; 0 selects a free port',
      createIntegerParser(0, 65_535),
      CONSOLE_PORT,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option(
        '--login <how>',
        'ask each person to sign in: with a token of the API server, or at an issuer of OpenID Connect',
      ).choices(LOGIN_WAYS),
    )
    .option('--url <url>', 'with --login: the address that people open, https://NAME', parseConsoleUrl)
    .option('--oidc <file>', 'with --login oidc: the file with the issuer and the client')
    .option(
      '--login-clusters <file>',
      'with --login oidc: kubeconfig without credentials, with the other clusters that are read with the ID token of each person',
    )
    .option(
      '--prometheus-url <url>',
      'URL of the Prometheus server with the lines of the past; without it the page has the last hour of this process',
      parsePrometheusUrl,
    )
    .option(
      '--prometheus-cluster <name>',
      'with --prometheus-url: only series whose label cluster has this value; with an empty value those without the label (default: all; with --login it is required)',
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: ConsoleFlags) => {
    checkConsoleFlags(flags);
    if (flags.login === undefined) await withCluster(io, flags, (client) => serveOpenly(io, client, flags));
    else await serveWithLogin(io, flags);
  });
}

async function serveOpenly(io: Io, client: Client, flags: ConsoleFlags): Promise<void> {
  const { clock, signal } = io;
  const files = await readPageFiles();
  const name = homeName(flags);
  const connectTo = async (member: string, onCall: OnCall, until = signal): Promise<ShownConnection> =>
    await connectShownCluster(member, { io: { ...io, signal: until }, flags, hub: client, onCall });
  const fleet = await openConsoleFleet(io, { client, flags, name, connectTo });
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const past = openPast(io, flags);
  const isShown = (cluster: string, machine: string): boolean =>
    fleet.machine?.(cluster, machine) !== undefined;
  const shared = { clock, isShown, signal: ended };
  const source = recordHistory(
    {
      ...fleet,
      ...optional('past', past && (fleet.isHub ? past : withoutContact(past))),
      events: createEventsReader({ ...shared, turns: createEventsTurns(), read: fleet.readEvents }),
      why: createExplainer({
        ...shared,
        turns: createExplainTurns(),
        // The cluster of the context itself is connected once more, too: each explanation closes its client.
        explain: createWhyText(io, async (cluster, onCall, asked) =>
          cluster === name
            ? await connectFrom(io, flags, onCall)
            : (await connectTo(cluster, onCall, asked.signal)).client,
        ),
      }),
    },
    clock,
  );
  const running = Promise.all([fleet.run(ended), source.run(ended)]);
  try {
    const { host, port } = flags;
    const access = createOpenAccess({ source, clock, host });
    const server = await startConsoleServer({ files, access, host, port });
    io.out(`The console: ${server.url}\n`);
    await untilAborted(signal);
    await server.close();
  } finally {
    stop.abort();
    await running;
  }
}
