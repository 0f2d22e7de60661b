/**
 * Runs controllers until told to stop: looks first, then leads, then acts; and ends in the reverse order, so that
 * nobody leads who still acts.
 */
import type { Clock } from '../../os/clock.ts';
import { MAX_VIEW_AGE_MS, staleReason } from '../cache/freshness.ts';
import type { View } from '../cache/view.ts';
import { type LeaseElection } from '../leader/election.ts';
import type { HeldTerm } from '../leader/renewal.ts';
import { LeaseLost } from '../leader/term.ts';
import { type HealthCheck, startHealthServer } from '../process/health.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createRuntimeMetrics, type RuntimeMetrics } from '../process/metrics-runtime.ts';
import { createShutdown, type Shutdown } from '../process/shutdown.ts';
import type { Controller } from './controller.ts';
import { objectionsTo } from './validate.ts';
import { type Crew, crewOf } from './workers.ts';

export interface RunOptions {
  readonly controllers: readonly Controller[];
  /** By kind; every kind that a controller reads. */
  readonly views: Readonly<Record<string, View>>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Without one nobody else runs these controllers: that is for the caller to know. */
  readonly lease?: LeaseElection;
  readonly metrics?: Metrics;
  readonly runtime?: RuntimeMetrics;
  readonly health?: {
    readonly port: number;
    readonly host?: string;
    readonly listening?: (url: string) => void;
  };
  readonly passTimeoutMs?: number;
  /** A view that nobody has heard from for so long is no ground to act upon. */
  readonly maxViewAgeMs?: number;
}

const PASS_TIMEOUT_MS = 300_000;

/** Resolves when the signal ended it. Rejects with LeaseLost when we lost the lead: the process should end, and begin anew. */
export async function runControllers(options: RunOptions, signal: AbortSignal): Promise<void> {
  refuse(options);
  const { clock, log } = options;
  const down = createShutdown({ clock, log });
  const state: State = { crews: crewsOf(options), stopped: true };
  try {
    await serveHealth(options, state, down);
    runViews(options, down);
    await Promise.all(Object.values(options.views).map(({ reflector }) => reflector.synced(signal)));
    const term = await lead(options, state, { down, signal });
    await act(state, { term, down, signal });
  } catch (error) {
    if (error instanceof LeaseLost || !signal.aborted) throw error;
  } finally {
    await down.run();
  }
}

interface State {
  readonly crews: readonly Crew[];
  /** No pass is under way. */
  stopped: boolean;
}

function refuse({ controllers, views }: RunOptions): void {
  const objections = objectionsTo(controllers, Object.keys(views));
  if (objections.length === 0) return;
  throw new Error(`these controllers cannot run together: ${objections.join('; ')}`);
}

function crewsOf(options: RunOptions): Crew[] {
  const { controllers, passTimeoutMs = PASS_TIMEOUT_MS, maxViewAgeMs = MAX_VIEW_AGE_MS, metrics } = options;
  const runtime = options.runtime ?? (metrics ? createRuntimeMetrics(metrics) : undefined);
  const { views, clock, random, log } = options;
  const shared = {
    views,
    clock,
    random,
    log,
    passTimeoutMs,
    maxViewAgeMs,
    ...(runtime ? { metrics: runtime } : {}),
  };
  return controllers.map((controller) => crewOf({ ...shared, controller }));
}

async function serveHealth(options: RunOptions, { crews }: State, down: Shutdown): Promise<void> {
  const { health, clock, log, metrics, views, controllers, maxViewAgeMs = MAX_VIEW_AGE_MS } = options;
  if (!health) return;
  const ready: Record<string, HealthCheck> = {};
  for (const [kind, view] of Object.entries(views)) {
    ready[`view ${kind}`] = () => staleReason(view.reflector.freshness(), kind, maxViewAgeMs);
  }
  for (const [index, { name }] of controllers.entries()) {
    ready[`controller ${name}`] = () => crews[index]?.objection();
  }
  const server = await startHealthServer({ ...health, clock, log, ready, ...(metrics ? { metrics } : {}) });
  health.listening?.(server.url);
  down.add('health', () => server.close());
}

function runViews({ views }: RunOptions, down: Shutdown): void {
  const stop = new AbortController();
  const running = Promise.all(Object.values(views).map(({ reflector }) => reflector.run(stop.signal)));
  down.add('views', async () => {
    stop.abort();
    await running;
  });
}

interface Course {
  readonly down: Shutdown;
  readonly signal: AbortSignal;
}

async function lead(
  { lease, log }: RunOptions,
  state: State,
  { down, signal }: Course,
): Promise<HeldTerm | undefined> {
  const term = await lease?.campaign(signal);
  if (!term) return undefined;
  down.add('lease', async () => {
    if (state.stopped) await term.release();
    // Somebody may still write: the others have to wait until our time is over.
    else log.warn('lease not given back, passes are still under way', { epoch: term.epoch });
  });
  return term;
}

async function act(
  state: State,
  { term, down, signal }: Course & { readonly term: HeldTerm | undefined },
): Promise<void> {
  const { crews } = state;
  state.stopped = false;
  down.add('controllers', async (giveUp) => {
    giveUp.addEventListener('abort', () => abort(crews, giveUp.reason), { once: true });
    await Promise.all(crews.map((crew) => crew.stop()));
    state.stopped = true;
  });
  for (const crew of crews) crew.start(term);
  await firstAborted(signal, ...(term ? [term.lost] : []));
  if (!term?.lost.aborted) return;
  abort(crews, term.lost.reason);
  throw term.lost.reason;
}

function abort(crews: readonly Crew[], reason: unknown): void {
  for (const crew of crews) crew.abort(reason);
}

function firstAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
