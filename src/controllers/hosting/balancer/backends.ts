/** The API servers behind a balancer: which of them are ready, and which one gets the next connection. */
import { Agent, get } from 'node:https';
import { LOOPBACK } from '../../../local/processes/commands.ts';
import type { Clock } from '../../../os/clock.ts';

export interface Backend {
  readonly port: number;
  isReady: boolean;
  /** When it was found ready last, on the monotonic clock. Undefined: never. */
  readyAtMs: number | undefined;
  /** How many connections it has now. */
  open: number;
  /** How many it was given so far. */
  given: number;
}

/** An API server that ends serves for two seconds more after it has reported that it is not ready. */
const PROBE_EVERY_MS = 500;
const PROBE_MS = 1000;

export function createBackends(ports: readonly number[]): readonly Backend[] {
  return ports.map((port) => ({ port, isReady: false, readyAtMs: undefined, open: 0, given: 0 }));
}

/**
 * Returns the backends in the order in which a connection is tried: those that are ready, by the number of their connections. The others come
 * last, so that a client gets the answer of an API server where none is ready. Of these, the one that was ready last comes first: on a busy machine
 * it is slow to answer, while one that starts refuses what clients ask for.
 */
export function backendsInOrder(backends: readonly Backend[]): readonly Backend[] {
  return backends.toSorted((a, b) => readyOrder(b) - readyOrder(a) || a.open - b.open || a.given - b.given);
}

function readyOrder(backend: Backend): number {
  return backend.isReady ? Number.MAX_VALUE : (backend.readyAtMs ?? 0);
}

interface WatchOptions {
  /** Reads the CA of the API servers, which changes while the authorities are rotated. */
  readonly readCa: () => Promise<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Asks each backend again and again whether it is ready, until the signal aborts. Rejects when the CA cannot be read at the start. */
export async function watchBackends(backends: readonly Backend[], options: WatchOptions): Promise<void> {
  const ca = await options.readCa();
  await Promise.all(backends.map((backend) => watchBackend(backend, ca, options)));
}

/** A balancer that trusted what it has read at its start would find no API server ready after a rotation. */
async function watchBackend(
  backend: Backend,
  firstCa: string,
  { readCa, clock, signal }: WatchOptions,
): Promise<void> {
  let ca = firstCa;
  let agent = createAgent(ca);
  while (!signal.aborted) {
    backend.isReady = await isReady(backend.port, agent).catch(() => false);
    if (backend.isReady) backend.readyAtMs = clock.monotonicMs();
    await clock.sleep(PROBE_EVERY_MS, signal).catch(() => undefined);
    const next = await readCa().catch(() => ca);
    if (next === ca) continue;
    agent.destroy();
    ca = next;
    agent = createAgent(ca);
  }
  agent.destroy();
}

function createAgent(ca: string): Agent {
  return new Agent({ ca, keepAlive: true, maxSockets: 1 });
}

/** Everybody may ask for the health of an API server, once it has loaded its roles. */
function isReady(port: number, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: LOOPBACK, port, path: '/readyz', agent, signal: AbortSignal.timeout(PROBE_MS) };
    const request = get(options, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode === 200));
    });
    request.once('error', () => resolve(false));
  });
}
