/**
 * The doors for probes and Prometheus: /healthz (am I alive?), /readyz (may I be counted on?) and /metrics.
 * A check answers with nothing, or with the reason why not. Whoever probes gets every check by name.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../../os/clock.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Why it is not well; undefined when it is. A check that throws or takes too long is not well. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

export interface HealthOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Loopback by default: who is probed from outside says so. */
  readonly host?: string;
  /** Alive means: worth keeping. A check that fails here gets the process killed, so nothing remote belongs here. */
  readonly alive?: Readonly<Record<string, HealthCheck>>;
  readonly ready?: Readonly<Record<string, HealthCheck>>;
  readonly metrics?: Pick<Metrics, 'text' | 'contentType'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkTimeoutMs?: number;
}

export interface HealthServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

// Shorter than the kubelet's default of one second, so that the answer names the check that hangs.
const CHECK_TIMEOUT_MS = 800;

export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const { port, host = '127.0.0.1', log } = options;
  const server = createServer((request, response) => {
    answer(request, options)
      .catch((error: unknown): Answer => {
        log.error('health request failed', { error });
        return { status: 500, text: 'internal error\n' };
      })
      .then((given) => send(response, given))
      .catch((error: unknown) => log.debug('health answer not sent', { error }));
  });
  // Probes are small and quick. Whoever holds a connection open without asking is cut off.
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.maxConnections = 100;

  const bound = await listen(server, port, host);
  return {
    port: bound,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => close(server),
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

async function answer({ method = '', url = '' }: IncomingMessage, options: HealthOptions): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'only GET and HEAD\n' };
  const door = doors.get(url.split('?')[0] ?? '');
  return door ? door(options) : { status: 404, text: `here are ${[...doors.keys()].join(', ')}\n` };
}

type Door = (options: HealthOptions) => Promise<Answer>;

const doors: ReadonlyMap<string, Door> = new Map<string, Door>([
  ['/healthz', async (options) => report('healthz', await run(options.alive ?? {}, options))],
  // What is not alive is not ready either.
  [
    '/readyz',
    async (options) => report('readyz', await run({ ...options.alive, ...options.ready }, options)),
  ],
  ['/metrics', async ({ metrics }) => metricsOf(metrics)],
]);

async function metricsOf(metrics: HealthOptions['metrics']): Promise<Answer> {
  if (!metrics) return { status: 404, text: 'no metrics here\n' };
  return { status: 200, text: await metrics.text(), type: metrics.contentType };
}

type Result = readonly [name: string, because: string | undefined];

function run(checks: Readonly<Record<string, HealthCheck>>, options: HealthOptions): Promise<Result[]> {
  const names = Object.entries(checks).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(names.map(async ([name, check]) => [name, await ask(check, options)] as const));
}

async function ask(
  check: HealthCheck,
  { clock, checkTimeoutMs = CHECK_TIMEOUT_MS }: HealthOptions,
): Promise<string | undefined> {
  const done = new AbortController();
  const late = clock.sleep(checkTimeoutMs, done.signal).then(
    () => `no answer within ${checkTimeoutMs} ms`,
    () => undefined,
  );
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    done.abort();
  }
}

/** As Kubernetes itself writes it: a line for each check, and the verdict last. */
function report(door: string, results: readonly Result[]): Answer {
  const lines = results.map(([name, because]) =>
    because === undefined ? `[+]${name} ok` : `[-]${name} failed: ${because.replaceAll(/\s+/g, ' ')}`,
  );
  const well = results.every(([, because]) => because === undefined);
  const verdict = `${door} check ${well ? 'passed' : 'failed'}`;
  return { status: well ? 200 : 503, text: `${[...lines, verdict].join('\n')}\n` };
}

function send(response: ServerResponse, { status, text, type = 'text/plain; charset=utf-8' }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  // Node leaves the body away where the request was a HEAD.
  response.end(text);
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? 'the port is in use; choose another, or 0 for any free one'
          : error.message;
      reject(new Error(`cannot serve health on ${host}:${port}: ${why}`, { cause: error }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
