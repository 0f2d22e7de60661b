/** `kubenode sync`: brings the commits of a repository to the clusters, for as long as it runs. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { PRINCIPAL_SYNC } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { startHealthServer } from '../../../kube/process/health.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '../../../kube/process/logger.ts';
import { createLoopDelay } from '../../../kube/process/loop-delay.ts';
import { createMetrics } from '../../../kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../kube/process/metrics-runtime.ts';
import { cacheFolder } from '../../../local/folders.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { httpGet } from '../../../rollout/check-http.ts';
import { checkRunner } from '../../../rollout/check-runner.ts';
import { type Known, syncMetrics } from '../../../sync/metrics.ts';
import { createRenderCache } from '../../../sync/render/cache.ts';
import { createRenderer } from '../../../sync/render/renderer.ts';
import { type SyncOptions, startSync } from '../../../sync/sync.ts';
import { type ConnectionFlags, connectionOptions } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { connectionAs } from '../../principal.ts';
import { bootstrap } from './bootstrap.ts';
import { commitChecks } from './checks.ts';

const HELP = `
Reads the Pipelines of the hub, polls their repositories, and brings each accepted commit to the clusters, stage by
stage. Run it where it can reach the hub and all clusters; a second one beside it waits, and takes over when the
first one ends. It may be killed at any moment. It acts as the user kubenode-sync: with that user's credentials, or with
an administrator's by impersonation.

The first time, --from names the fleet repository: the Pipelines that it declares are put into the hub, and all else
follows from them.

Example, with a local fleet:
  kubenode sync --from ../my-fleet`;

interface Flags extends ConnectionFlags {
  readonly from?: string;
  readonly path: string;
  readonly ref?: string;
  readonly cache: string;
  readonly prometheusUrl?: string;
  readonly port?: number;
  readonly host: string;
  readonly logLevel: LogLevel;
}

export function syncCommand(io: Io): Command {
  const command = new Command('sync')
    .description('bring the commits of a fleet repository to the clusters, stage by stage')
    .option(
      '--from <repository>',
      'folder or URL of the fleet repository, when the hub has no Pipeline of it yet',
    )
    .option('--path <folder>', 'folder of the fleet in that repository', '.')
    .option('--ref <ref>', 'branch to take the Pipelines from (default: its current one)')
    .option('--cache <folder>', 'where repositories and renders are kept', join(cacheFolder(io.env), 'sync'))
    .option('--prometheus-url <url>', 'Prometheus that answers the promql checks of stages')
    .option('--port <n>', 'serve /healthz, /readyz and /metrics there; 0 takes a free port', portNumber)
    .option('--host <address>', 'address to serve them on', '127.0.0.1')
    .addOption(new Option('--log-level <level>', 'how much to log').choices([...LOG_LEVELS]).default('info'))
    .addHelpText('after', HELP);
  return connectionOptions(command).action((flags: Flags) => sync(io, flags));
}

async function sync(io: Io, flags: Flags): Promise<void> {
  const { clock, signal } = io;
  const log = createLogger({ level: flags.logLevel, stream: { write: (line) => io.err(line) }, clock });
  const metrics = createMetrics();
  const counted = createRuntimeMetrics(metrics, createLoopDelay());
  const connection = await connectionAs(io, flags, PRINCIPAL_SYNC);
  const connectHub = (fence?: () => void): Promise<Client> =>
    connect({ ...connection, onCall: (report) => counted.call(report), ...(fence ? { fence } : {}) });
  const options: SyncOptions = {
    connectHub,
    identity: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    renderer: createRenderer({
      cache: createRenderCache(join(flags.cache, 'renders')),
      compileCache: join(flags.cache, 'compiled'),
    }),
    checks: commitChecks(),
    runner: checkRunner({
      clock,
      get: httpGet,
      ...(flags.prometheusUrl === undefined ? {} : { prometheusUrl: flags.prometheusUrl }),
    }),
    gitFolder: join(flags.cache, 'git'),
    clock,
    log,
    random: systemRandom,
    metrics: { ...counted.lease, ...counted.watch, ...counted.events },
    onCall: (report) => counted.call(report),
  };
  if (flags.from !== undefined) await bootstrap(io, { ...flags, from: flags.from }, options);
  const running = await startSync(options, signal);
  const { stores } = running.hub;
  const known = (): Known => ({
    clusters: stores.clusters.list(),
    pipelines: stores.pipelines.list(),
    releases: stores.releases.list(),
    report: (name) => running.clusters.report(name),
  });
  syncMetrics(metrics, known, () => clock.now().getTime());
  const health =
    flags.port === undefined
      ? undefined
      : await startHealthServer({
          port: flags.port,
          host: flags.host,
          ready: { hub: () => running.notReadyReason() },
          metrics,
          clock,
          log,
        });
  log.info('sync runs', health ? { health: health.url } : {});
  await stopped(signal);
  log.info('sync stops');
  await health?.close();
  await running.close();
}

function stopped(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Wanted is a whole number from 0 to 65535.');
}
