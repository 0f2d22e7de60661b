/** What each process registers, put together from the same functions that its command calls; test/cluster/observability asks the real ones. */
import { createAgentMetrics } from '../../../src/agent/status/metrics.ts';
import { serveMaintenance } from '../../../src/cli/commands/controllers/maintenance.ts';
import { serveWebhooks } from '../../../src/cli/commands/sync/webhooks.ts';
import { createControllerGroups, MANAGERS } from '../../../src/controllers/controllers.ts';
import {
  registerBackupMetrics,
  registerCertificateMetrics,
} from '../../../src/controllers/hosting/metrics.ts';
import { createDefender } from '../../../src/defender/defender.ts';
import { createCallWindow } from '../../../src/defender/facts/call-window.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { createMetrics, type Metrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';
import { registerBuildInfo } from '../../../src/observability/metrics/process.ts';
import type { MetricProcess } from '../../../src/observability/metrics/table.ts';
import { registerTraceMetrics } from '../../../src/observability/trace/otlp/metrics.ts';
import { createEventAnswers } from '../../../src/providers/event-answers.ts';
import { createPowerSwitches } from '../../../src/providers/power/switches.ts';
import { createCheckRunner } from '../../../src/rollout/checks/runner.ts';
import { registerSyncMetrics, registerSyncTimes } from '../../../src/sync/metrics.ts';
import { registerDelivery } from '../../../src/sync/promote/release/delivery-metrics.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** Nothing asks a server before it runs. */
const CLIENT = { server: 'none' } as Client;
const DELAY = { read: () => ({ p50: 0, p99: 0, max: 0 }), stop: () => undefined };

/** Returns `name type` of each metric that the process serves, sorted. */
export async function served(process: MetricProcess): Promise<readonly string[]> {
  const text = await TEXTS[process]();
  return typesIn(text);
}

export function typesIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (?<type>\S+ \S+)$/gm)]
    .map(({ groups }) => groups?.['type'] ?? '')
    .toSorted();
}

const TEXTS: Readonly<Record<MetricProcess, () => Promise<string>>> = {
  agent: () =>
    createAgentMetrics({
      isOnline: () => true,
      residentBytes: () => 1,
      certificateNotAfter: () => undefined,
    }).text(),
  controllers: async () => textWith('controllers', registerControllers),
  hosting: async () =>
    textWith('hosting', async (metrics) => {
      registerCertificateMetrics(metrics, () => []);
      registerBackupMetrics(metrics, () => []);
    }),
  sync: async () => textWith('sync', registerSync),
};

async function textWith(
  process: 'controllers' | 'hosting' | 'sync',
  register: (metrics: Metrics) => Promise<void>,
): Promise<string> {
  const metrics = createMetrics();
  createRuntimeMetrics(metrics, DELAY);
  registerBuildInfo(metrics, { process, version: '1' });
  await register(metrics);
  return await metrics.text();
}

async function registerControllers(metrics: Metrics): Promise<void> {
  const clock = virtualClock();
  const log = memoryLog();
  const shared = { clock, log, random: () => 0.5, leads: () => true, metrics };
  const common = { ...shared, watch: { restarted: () => undefined } };
  const defender = createDefender({
    ...common,
    client: CLIENT,
    calls: createCallWindow(clock),
    managers: MANAGERS,
  });
  const parts = {
    ...common,
    skewSeconds: () => 0,
    connectAs: async () => CLIENT,
    connectTo: async () => CLIENT,
    openInstances: async () => ({ providers: {}, clusterUid: 'c-1', createBootstrap: noBootstrap }),
    openImports: async () => undefined,
    power: createPowerSwitches({ providers: () => ({}), secrets: CLIENT }),
    grants: defender.ledger,
    eventAnswers: createEventAnswers(() => ({})),
    prometheus: { query: async () => ({ problem: 'no Prometheus' }) },
    checkRunner: createCheckRunner({ clock, get: noBootstrap }),
    machineInfo: true,
  };
  await createControllerGroups(parts, defender.views);
  registerTraceMetrics(metrics);
  const flags = { maintenancePort: 0, maintenanceHost: '127.0.0.1' };
  const server = await serveMaintenance(flags, { connectAs: async () => CLIENT, clock, log, metrics });
  await server?.close();
  defender.close();
}

async function noBootstrap(): Promise<never> {
  throw new Error('no instance is created here');
}

async function registerSync(metrics: Metrics): Promise<void> {
  const clock = virtualClock();
  const source = { clusters: [], pipelines: [], releases: [], report: () => undefined };
  registerSyncTimes(metrics);
  registerDelivery(metrics);
  registerTraceMetrics(metrics);
  registerSyncMetrics(
    metrics,
    () => source,
    () => 0,
  );
  const hub = { stores: {}, recordWebhook: undefined } as unknown as Parameters<typeof serveWebhooks>[1];
  const flags = { webhookPort: 0, webhookHost: '127.0.0.1' };
  const server = await serveWebhooks(flags, hub, { metrics, clock, log: memoryLog() });
  await server?.close();
}
