/** Runs the agent on one host: the loop, the watch, health and metrics. */
import type { Client } from '../kube/client/client.ts';
import { startHealthServer } from '../kube/process/health.ts';
import type { Log } from '../kube/process/log.ts';
import type { Clock } from '../os/clock.ts';
import { acquireLock } from '../os/lock.ts';
import { createSandboxHost } from './host/sandbox/host.ts';
import { createAgentMetrics } from './metrics/agent-metrics.ts';
import { openAgent } from './run/agent.ts';
import { createAgentApi } from './run/api.ts';
import { createReconcileTrigger } from './run/trigger.ts';

export interface RunAgentOptions {
  /** Directory of the sandbox. */
  readonly directory: string;
  readonly machine: string;
  readonly client: Client;
  readonly version: string;
  /** Of health and metrics, on localhost. 0 selects a free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Called once the agent listens. */
  readonly onListening?: (url: string) => void;
}

/** A reconcile of a healthy host takes seconds; a download may take minutes. */
const MAX_SILENCE_MS = 35 * 60_000;

export async function runAgent(options: RunAgentOptions, signal: AbortSignal): Promise<void> {
  const { directory, machine, client, version, clock, log, random } = options;
  const trigger = createReconcileTrigger(clock);
  const onChange = (): void => trigger.notify();
  // Two agents on one host would stop each other's processes.
  const lock = await acquireLock(`kubenode agent ${directory}`, {
    signal,
    waiting: (holder) => log.warn('another agent runs on this host', { holder }),
  });
  const host = createSandboxHost({ directory, clock, onUnitChange: onChange });
  const api = createAgentApi({ client, machine, clock, log, random, onChange });
  const metrics = createAgentMetrics({
    isOnline: () => api.isOnline(),
    residentBytes: () => process.memoryUsage.rss(),
  });
  let reconciledMs = clock.monotonicMs();
  const health = await startHealthServer({
    port: options.port,
    clock,
    log,
    metrics,
    alive: {
      reconcile: () => {
        const silentMs = clock.monotonicMs() - reconciledMs;
        return silentMs > MAX_SILENCE_MS
          ? `no reconcile finished for ${Math.round(silentMs / 1000)} s`
          : undefined;
      },
    },
    ready: { api: () => (api.isOnline() ? undefined : 'the API server does not answer') },
  });
  options.onListening?.(health.url);
  try {
    await host.open();
    const agent = await openAgent({
      host,
      api,
      clock,
      log,
      machine,
      version,
      trigger,
      clusterServer: client.server,
      observer: {
        acted: (component, action) => metrics.observer.acted(component, action),
        reconciled(status, seconds) {
          reconciledMs = clock.monotonicMs();
          metrics.observer.reconciled(status, seconds);
        },
      },
    });
    await Promise.all([api.run(signal), agent.run(signal)]);
    await agent[Symbol.asyncDispose]();
  } finally {
    await health.close();
    await host.close();
    await lock.release();
  }
}
