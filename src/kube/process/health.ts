/**
 * The HTTP endpoints for probes and Prometheus: /healthz (liveness), /readyz (readiness) and /metrics. The answer names
 * the result of every check.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { closeServer, httpUrl, listenOn } from '../../os/net/http-server.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Returns why it fails; undefined when it passes. A check that throws or times out fails. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

export interface HealthOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** Loopback by default. */
  readonly host?: string;
  /** Liveness checks. A failure gets the process killed, so they must not depend on remote servers. */
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
      .then((result) => send(response, result))
      .catch((error: unknown) => log.debug('health answer not sent', { error }));
  });
  // Probes are short. Connections without a request are closed.
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.maxConnections = 100;

  const bound = await listenOn(server, 'health', { host, port });
  return {
    port: bound,
    url: httpUrl('http', { host, port: bound }),
    close: () => closeServer(server),
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

async function answer({ method = '', url = '' }: IncomingMessage, options: HealthOptions): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'only GET and HEAD are allowed\n' };
  const endpoint = ENDPOINTS.get(url.split('?')[0] ?? '');
  return endpoint
    ? endpoint(options)
    : { status: 404, text: `not found. Endpoints: ${[...ENDPOINTS.keys()].join(', ')}\n` };
}

type Endpoint = (options: HealthOptions) => Promise<Answer>;

const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['/healthz', async (options) => report('healthz', await runChecks(options.alive ?? {}, options))],
  // A process that is not alive is not ready.
  [
    '/readyz',
    async (options) => report('readyz', await runChecks({ ...options.alive, ...options.ready }, options)),
  ],
  ['/metrics', async ({ metrics }) => readMetrics(metrics)],
]);

async function readMetrics(metrics: HealthOptions['metrics']): Promise<Answer> {
  if (!metrics) return { status: 404, text: 'no metrics\n' };
  return { status: 200, text: await metrics.text(), type: metrics.contentType };
}

type Result = readonly [name: string, because: string | undefined];

function runChecks(checks: Readonly<Record<string, HealthCheck>>, options: HealthOptions): Promise<Result[]> {
  const names = Object.entries(checks).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(names.map(async ([name, check]) => [name, await runCheck(check, options)] as const));
}

async function runCheck(
  check: HealthCheck,
  { clock, checkTimeoutMs = CHECK_TIMEOUT_MS }: HealthOptions,
): Promise<string | undefined> {
  const done = new AbortController();
  const timedOut = clock.sleep(checkTimeoutMs, done.signal).then(
    () => `no answer within ${checkTimeoutMs} ms`,
    () => undefined,
  );
  try {
    return await Promise.race([check(), timedOut]);
  } catch (error) {
    return messageOf(error);
  } finally {
    done.abort();
  }
}

/** In the format of Kubernetes: a line for each check, then the result. */
function report(endpoint: string, results: readonly Result[]): Answer {
  const lines = results.map(([name, because]) =>
    because === undefined ? `[+]${name} ok` : `[-]${name} failed: ${because.replaceAll(/\s+/g, ' ')}`,
  );
  const passed = results.every(([, because]) => because === undefined);
  const summary = `${endpoint} check ${passed ? 'passed' : 'failed'}`;
  return { status: passed ? 200 : 503, text: `${[...lines, summary].join('\n')}\n` };
}

function send(response: ServerResponse, { status, text, type = 'text/plain; charset=utf-8' }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  // Node omits the body for a HEAD request.
  response.end(text);
}
