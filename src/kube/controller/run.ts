/**
 * Runs controllers until the signal: reads first, then leads, then acts; and ends in the reverse order, so that the Lease is released only
 * when no reconcile is under way.
 */
import type { Clock } from '../../os/clock.ts';
import { MAX_VIEW_AGE_MS, staleReason } from '../cache/freshness.ts';
import { createEventRecorder } from '../events/recorder.ts';
import type { LeaseElection } from '../leader/election.ts';
import type { HeldTerm } from '../leader/renewal.ts';
import { LeaseLost } from '../leader/term.ts';
import { type HealthCheck, startHealthServer } from '../process/health.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createRuntimeMetrics, type RuntimeMetrics } from '../process/metrics-runtime.ts';
import { createShutdown, type Shutdown } from '../process/shutdown.ts';
import type { Controller } from './controller.ts';
import { type ConnectPrincipal, createPrincipalClients } from './principals.ts';
import { declarationErrors } from './validate.ts';
import type { Views } from './views.ts';
import { createWorkers, type Workers } from './workers.ts';

export interface RunOptions {
  readonly controllers: readonly Controller[];
  /** The views by kind: one of every kind that a controller reads. */
  readonly views: Views;
  /** Connects controllers to the API server; it is called once for each identity, in each term. */
  readonly connect: ConnectPrincipal;
  /** The reporter of Events: `kubenode.dev` and this process. */
  readonly reporter: { readonly domain: string; readonly instance: string };
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** The election that permits writes. Without one the caller knows that no other process runs these controllers. */
  readonly lease?: LeaseElection;
  readonly metrics?: Metrics;
  readonly runtime?: RuntimeMetrics;
  readonly health?: {
    readonly port: number;
    readonly host?: string;
    readonly listening?: (url: string) => void;
  };
  readonly reconcileTimeoutMs?: number;
  /** The maximum age of a view: no reconcile begins while a view has had no contact with the API server for longer than this. */
  readonly maxViewAgeMs?: number;
}

const RECONCILE_TIMEOUT_MS = 300_000;

/**
 * Runs the controllers. Resolves when the signal ended it. Rejects with LeaseLost when the lease was lost: the process should end, and
 * start again.
 */
export async function runControllers(options: RunOptions, signal: AbortSignal): Promise<void> {
  checkDeclarations(options);
  const { clock, log } = options;
  const down = createShutdown({ clock, log });
  const state: RunState = { options, runtime: runtimeOf(options), workers: [], stopped: true, down, signal };
  for (const controller of options.controllers) state.workers.push(workersOf(controller, state));
  try {
    await serveHealth(state);
    runViews(state);
    await Promise.all(Object.values(options.views).map(({ reflector }) => reflector.synced(signal)));
    const term = await lead(state);
    await act(state, term);
  } catch (error) {
    if (error instanceof LeaseLost || !signal.aborted) throw error;
  } finally {
    await down.run();
  }
}

interface RunState {
  readonly options: RunOptions;
  readonly runtime: RuntimeMetrics | undefined;
  /** The workers, in the order of the controllers. */
  readonly workers: Workers[];
  /** Whether no reconcile is under way. */
  stopped: boolean;
  readonly down: Shutdown;
  readonly signal: AbortSignal;
}

function checkDeclarations({ controllers, views }: RunOptions): void {
  const errors = declarationErrors(controllers, Object.keys(views));
  if (errors.length > 0) throw new Error(`these controllers cannot run together: ${errors.join('; ')}`);
}

function runtimeOf({ runtime, metrics }: RunOptions): RuntimeMetrics | undefined {
  return runtime ?? (metrics ? createRuntimeMetrics(metrics) : undefined);
}

function workersOf(controller: Controller, { options, runtime }: RunState): Workers {
  const { reconcileTimeoutMs = RECONCILE_TIMEOUT_MS, maxViewAgeMs = MAX_VIEW_AGE_MS } = options;
  const { views, clock, random, log } = options;
  return createWorkers({
    controller,
    views,
    clock,
    random,
    log,
    reconcileTimeoutMs,
    maxViewAgeMs,
    ...(runtime ? { metrics: runtime } : {}),
  });
}

async function serveHealth({ options, workers, down }: RunState): Promise<void> {
  const { health, clock, log, metrics, views, controllers, maxViewAgeMs = MAX_VIEW_AGE_MS } = options;
  if (!health) return;
  const ready: Record<string, HealthCheck> = {};
  for (const [kind, { reflector }] of Object.entries(views)) {
    ready[`view ${kind}`] = () => staleReason(reflector.freshness(), kind, maxViewAgeMs);
  }
  for (const [index, { name }] of controllers.entries()) {
    ready[`controller ${name}`] = () => workers[index]?.stuckReason();
  }
  const server = await startHealthServer({ ...health, clock, log, ready, ...(metrics ? { metrics } : {}) });
  health.listening?.(server.url);
  down.add('health', () => server.close());
}

function runViews({ options: { views }, down }: RunState): void {
  const stop = new AbortController();
  const running = Promise.all(Object.values(views).map(({ reflector }) => reflector.run(stop.signal)));
  down.add('views', async () => {
    stop.abort();
    await running;
  });
}

async function lead(state: RunState): Promise<HeldTerm | undefined> {
  const { options, down, signal } = state;
  const term = await options.lease?.campaign(signal);
  if (!term) return undefined;
  down.add('lease', async () => {
    if (state.stopped) await term.release();
    // A reconcile may still write: others have to wait until the Lease expires.
    else options.log.warn('lease not released: reconciles are still under way', { epoch: term.epoch });
  });
  return term;
}

async function act(state: RunState, term: HeldTerm | undefined): Promise<void> {
  const { workers, down, signal } = state;
  const starts = await connectWorkers(state, term);
  state.stopped = false;
  down.add('controllers', async (giveUp) => {
    giveUp.addEventListener('abort', () => abortAll(workers, giveUp.reason), { once: true });
    await Promise.all(workers.map((one) => one.stop()));
    state.stopped = true;
  });
  for (const start of starts) start();
  await firstAborted(signal, ...(term ? [term.lost] : []));
  if (!term?.lost.aborted) return;
  abortAll(workers, term.lost.reason);
  throw term.lost.reason;
}

/** Connects each controller with the client of its identity; Events are written in the name of the process. */
async function connectWorkers(
  { options, runtime, workers, down }: RunState,
  term: HeldTerm | undefined,
): Promise<readonly (() => void)[]> {
  const { controllers, connect, reporter, clock, random, log } = options;
  const clients = createPrincipalClients(connect, () => term?.fence());
  down.add('clients', () => clients.close());
  const own = await clients.clientFor(undefined);
  const metrics = runtime ? { metrics: runtime.events } : {};
  return Promise.all(
    controllers.map(async ({ name, serviceAccount }, index) => {
      const { domain, instance } = reporter;
      const source = { controller: `${domain}/${name}`, instance };
      const recorder = createEventRecorder({ client: own, clock, random, log, ...source, ...metrics });
      down.add('events', (giveUp) => recorder.close(giveUp));
      const client = await clients.clientFor(serviceAccount);
      return () => workers[index]?.start({ term, client, recorder });
    }),
  );
}

function abortAll(workers: readonly Workers[], reason: unknown): void {
  for (const one of workers) one.abort(reason);
}

function firstAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
