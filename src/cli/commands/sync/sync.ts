/** `kubenode sync`: applies the commits of a repository to the clusters, until it is stopped. */
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { PRINCIPAL_SYNC } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { optional } from '../../../kube/objects/optional.ts';
import {
  type HealthCheck,
  type HealthOptions,
  type HealthServer,
  startHealthServer,
} from '../../../kube/process/health.ts';
import { createLineBuffer } from '../../../kube/process/line-buffer.ts';
import type { Log } from '../../../kube/process/log.ts';
import { createLoopDelay } from '../../../kube/process/loop-delay.ts';
import { createMetrics } from '../../../kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../kube/process/metrics-runtime.ts';
import type { HookServer } from '../../../kube/webhook/server.ts';
import { cacheFolder } from '../../../local/folders.ts';
import { registerBuildInfo } from '../../../observability/metrics/process.ts';
import type { TraceFlags } from '../../../observability/trace/otlp/settings.ts';
import { ensurePrivateFolder } from '../../../os/files.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { registerSyncMetrics, registerSyncTimes, type SyncMetricsSource } from '../../../sync/metrics.ts';
import { registerDelivery } from '../../../sync/promote/release/delivery-metrics.ts';
import { createRenderCache } from '../../../sync/render/cache.ts';
import { createRenderer } from '../../../sync/render/renderer.ts';
import { type SyncOptions, startSync } from '../../../sync/sync.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { addLogOptions, createCommandLog, type LogFlags } from '../../log-options.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { createPlanCommit } from '../../plan/hub-plan.ts';
import { connectOptionsFor } from '../../principal.ts';
import { addCheckOptions, type CheckFlags, checkRunnerOf } from '../../programs/check-options.ts';
import { JUDGE_PROGRAM } from '../../programs/judge-path.ts';
import { addTraceOptions, openTraces } from '../../programs/trace-options.ts';
import { KUBENODE_VERSION } from '../../version.ts';
import { bootstrap, warnWithoutPipeline } from './bootstrap.ts';
import { createNowCommand } from './now.ts';
import { serveWebhooks } from './webhooks.ts';

const HELP = `
Reads the Pipelines of the hub, polls their repositories, and applies each accepted commit to the clusters, stage by
stage. Run it where it can reach the hub and all clusters; a second instance waits, and takes over when the first one
ends. It can be killed at any time. It acts as the user kubenode-sync: with credentials of that user, or with those of
an administrator by impersonation.

The first time, pass the fleet repository with --from: sync then creates the Pipelines that it declares in the hub.
Everything else follows from them.

With --otlp-endpoint each commit that has gone through its stages is a trace at an OpenTelemetry collector:
docs/guides/traces.md.

Example, with a local fleet:
  kubenode sync --from ../my-fleet`;

interface Flags extends CheckFlags, ConnectionFlags, LogFlags, TraceFlags {
  readonly from?: string;
  readonly path: string;
  readonly ref?: string;
  readonly cache: string;
  readonly port?: number;
  readonly host: string;
  readonly webhookPort?: number;
  readonly webhookHost: string;
}

export function createSyncCommand(io: Io): Command {
  const command = new Command('sync')
    .description('apply the commits of a fleet repository to the clusters, stage by stage')
    .option(
      '--from <repository>',
      'folder or URL of the fleet repository, if its Pipeline is not in the hub yet',
    )
    .option('--path <folder>', 'folder of the fleet in the repository', '.')
    .option('--ref <ref>', 'branch to read the Pipelines from (default: HEAD of the repository)')
    .option(
      '--cache <folder>',
      'cache folder for repositories and rendered objects',
      join(cacheFolder(io.env), 'sync'),
    )
    .option(
      '--port <n>',
      'port for /healthz, /readyz and /metrics; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--host <address>', 'address for --port to listen on', '127.0.0.1')
    .option(
      '--webhook-port <n>',
      'port for webhooks of git hosts at /hooks/<pipeline>; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--webhook-host <address>', 'address for --webhook-port to listen on', '127.0.0.1')
    .addCommand(createNowCommand(io))
    .addHelpText('after', HELP);
  const checked = addCheckOptions(addLogOptions(command), 'stages');
  return addConnectionOptions(addTraceOptions(checked, 'each commit')).action((flags: Flags) =>
    syncWithLog(io, flags),
  );
}

/** Thousands of lines while a fleet is applied are written together, and none is lost when the process ends. */
async function syncWithLog(io: Io, flags: Flags): Promise<void> {
  const { clock } = io;
  const lines = createLineBuffer({ write: (text) => io.err(text), clock, exits: process });
  const ordered: Io = {
    ...io,
    err(text) {
      lines.flush();
      io.err(text);
    },
  };
  try {
    await sync(ordered, flags, createCommandLog(io, flags, lines));
  } finally {
    lines.close();
  }
}

/** Repositories, and what their commits render to, may be private. */
const PRIVATE_FOLDERS = ['git', 'renders', 'revisions', 'compiled'];

async function sync(io: Io, flags: Flags, log: Log): Promise<void> {
  const { clock, signal } = io;
  const metrics = createMetrics();
  const processMetrics = createRuntimeMetrics(metrics, createLoopDelay());
  registerBuildInfo(metrics, { process: 'sync', version: KUBENODE_VERSION });
  const traces = openTraces(io, flags, { log, metrics, random: systemRandom });
  const connection = await connectOptionsFor(io, flags, PRINCIPAL_SYNC);
  const connectHub = (fence?: () => void): Promise<Client> =>
    connect({ ...connection, onCall: (report) => processMetrics.call(report), ...(fence ? { fence } : {}) });
  const options: SyncOptions = {
    connectHub,
    identity: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    renderer: createRenderer({
      cache: createRenderCache(join(flags.cache, 'renders')),
      compileCache: join(flags.cache, 'compiled'),
      judge: { program: JUDGE_PROGRAM },
    }),
    planCommit: createPlanCommit({
      connect: (onCall) =>
        connect({
          ...connection,
          onCall(report) {
            processMetrics.call(report);
            onCall(report);
          },
        }),
      clock,
      log,
    }),
    runner: checkRunnerOf(io, flags),
    gitFolder: join(flags.cache, 'git'),
    keptRevisions: { folder: join(flags.cache, 'revisions'), randomBytes },
    receivesWebhooks: flags.webhookPort !== undefined,
    ...optional('traces', traces),
    clock,
    log,
    random: systemRandom,
    metrics: { ...processMetrics.lease, ...processMetrics.watch, ...processMetrics.events },
    times: { ...registerSyncTimes(metrics), ...registerDelivery(metrics) },
    onCall: (report) => processMetrics.call(report),
  };
  for (const name of PRIVATE_FOLDERS) await ensurePrivateFolder(join(flags.cache, name));
  if (flags.from !== undefined) await bootstrap(io, { ...flags, from: flags.from }, options);
  const running = await startSync(options, signal);
  const servers: (HealthServer | HookServer | undefined)[] = [];
  try {
    const { stores } = running.hub;
    const known = (): SyncMetricsSource => ({
      clusters: stores.clusters.list(),
      pipelines: stores.pipelines.list(),
      releases: stores.releases.list(),
      report: (name) => running.clusters.report(name),
    });
    registerSyncMetrics(metrics, known, () => clock.now().getTime());
    const health = await serveHealth(flags, { ready: () => running.notReadyReason(), metrics, clock, log });
    servers.push(health);
    const webhooks = await serveWebhooks(flags, running.hub, { metrics, clock, log });
    servers.push(webhooks);
    log.info('sync started', {
      ...optional('health', health?.url),
      ...optional('webhooks', webhooks?.url),
    });
    warnWithoutPipeline(log, stores.pipelines.list().length, flags.from);
    await untilAborted(signal);
    log.info('sync stopping');
  } finally {
    // A server that stayed open would keep the process running, also when the port of the other one is taken.
    await Promise.all(servers.map(async (server) => await server?.close()));
    await running.close();
  }
}

/** Rejects when the port is taken. */
async function serveHealth(
  { port, host }: Flags,
  { ready, ...parts }: Pick<HealthOptions, 'metrics' | 'clock' | 'log'> & { readonly ready: HealthCheck },
): Promise<HealthServer | undefined> {
  return port === undefined ? undefined : startHealthServer({ port, host, ready: { hub: ready }, ...parts });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
