/** The API servers behind a balancer: which of them are ready, and which one gets the next connection. */
import { Agent, get } from 'node:https';
import { LOOPBACK } from '../../../local/processes/commands.ts';
import type { Clock } from '../../../os/clock.ts';

export interface Backend {
  readonly port: number;
  isReady: boolean;
  /** How many connections it has now. */
  open: number;
  /** How many it was given so far. */
  given: number;
}

/** An API server that ends serves for two seconds more after it has reported that it is not ready. */
const PROBE_EVERY_MS = 500;
const PROBE_MS = 1000;

export function createBackends(ports: readonly number[]): readonly Backend[] {
  return ports.map((port) => ({ port, isReady: false, open: 0, given: 0 }));
}

/**
 * Returns the backends in the order in which a connection is tried: those that are ready, by the number of their connections. The others come
 * last, so that a client gets the answer of an API server where none is ready.
 */
export function backendsInOrder(backends: readonly Backend[]): readonly Backend[] {
  return backends.toSorted(
    (a, b) => Number(b.isReady) - Number(a.isReady) || a.open - b.open || a.given - b.given,
  );
}

/** Asks each backend again and again whether it is ready, until the signal aborts. */
export async function watchBackends(
  backends: readonly Backend[],
  { ca, clock, signal }: { readonly ca: string; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  await Promise.all(backends.map((backend) => watchBackend(backend, ca)));

  async function watchBackend(backend: Backend, caPem: string): Promise<void> {
    const agent = new Agent({ ca: caPem, keepAlive: true, maxSockets: 1 });
    while (!signal.aborted) {
      backend.isReady = await isReady(backend.port, agent);
      await clock.sleep(PROBE_EVERY_MS, signal).catch(() => undefined);
    }
    agent.destroy();
  }
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
