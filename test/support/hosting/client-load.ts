/** Clients of a control plane: 50 requests a second, on connections that stay and on new ones, and watches. They tell what they noticed. */
import { readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { planeLayout } from '../../../src/controllers/hosting/drivers/process/folder.ts';
import { systemCode } from '../../../src/os/errors.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

const EVERY_MS = 20;
/** A machine that computes for others stands still for seconds, with every process on it. A server that hangs does so for longer. */
const REQUEST_MS = 30_000;
const WRITE_EVERY_MS = 500;
const WATCHES = 4;
/** As client-go. */
const MAX_RETRIES = 10;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const NAME = 'load';
/** What every user may read, as soon as the roles are loaded. */
const VERSION = '/version';
const clock = createSystemClock();

export interface LoadReport {
  readonly requests: number;
  /** What failed for a client that sends requests again as client-go does, with the time since the start. */
  readonly errors: readonly string[];
  /** How many requests failed for a client that never sends one again, whatever became of them later. */
  readonly failedOnce: number;
  /** How many were refused with 429 or 503 and Retry-After, as an API server that ends does, and were sent again after that time. */
  readonly refused: number;
  /** How many were sent again at once, because their kept connection had ended. */
  readonly ended: number;
  /** The longest time in which no request was answered. */
  readonly outageMs: number;
  /** The longest time in which a watch told nothing of an object that changes twice a second. */
  readonly watchGapMs: number;
  readonly slowestMs: number;
}

export interface ClientLoad {
  stop(): Promise<LoadReport>;
}

/** The server did not process the request: it ended a kept connection, or told the client when to come back. */
class NotProcessed extends Error {
  readonly afterSeconds: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly afterSeconds?: number } = {}) {
    super(message, options);
    this.afterSeconds = options.afterSeconds;
  }
}

interface Call {
  readonly path: string;
  readonly user: 'admin' | 'sync';
  readonly agent?: Agent | undefined;
  readonly method?: string;
  readonly body?: object;
}

/** Where the load goes, and with which certificates. */
export interface LoadTarget {
  readonly server: string | undefined;
  readonly ca: string;
  readonly pairs: Readonly<Record<Call['user'], string>>;
}

/** Begins the load on a control plane of processes. */
export async function startClientLoad(dir: string, cluster: string): Promise<ClientLoad> {
  const pki = planeLayout(dir, cluster).cluster(cluster).pkiFolder;
  const server = /server: "?(?<url>https:[^\s"]+)/.exec(
    readFileSync(planeLayout(dir, cluster).cluster(cluster).kubeconfig, 'utf8'),
  )?.groups?.['url'];
  const read = (name: string): string => readFileSync(join(pki, name), 'utf8');
  return await startLoad({
    server,
    ca: read('ca.crt'),
    pairs: { admin: read('admin.pem'), sync: read('sync.pem') },
  });
}

/** Begins the load. The user of sync needs roles, the administrator none. */
export async function startLoad({ server, ca, pairs }: LoadTarget): Promise<ClientLoad> {
  const agents = { admin: new Agent({ keepAlive: true }), sync: new Agent({ keepAlive: true }) };
  const stopped = new AbortController();
  const startMs = clock.monotonicMs();
  const errors: string[] = [];
  const noticed = {
    requests: 0,
    failedOnce: 0,
    refused: 0,
    ended: 0,
    slowestMs: 0,
    outageMs: 0,
    watchGapMs: 0,
  };
  let answeredMs = startMs;
  const open = (call: Call, signal: AbortSignal): ClientRequest => {
    const pem = pairs[call.user];
    const { method = 'GET', agent = false } = call;
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { 'content-type': type, accept: 'application/json' };
    return request(new URL(call.path, server), { method, ca, cert: pem, key: pem, agent, headers, signal });
  };

  await send({ path: CONFIG_MAPS, user: 'admin', method: 'POST', body: { metadata: { name: NAME } } });
  const work = [load(), write(), ...Array.from({ length: WATCHES }, watch)];
  return {
    stop: async () => {
      stopped.abort();
      await Promise.all(work);
      for (const agent of Object.values(agents)) agent.destroy();
      return { ...noticed, errors };
    },
  };

  async function load(): Promise<void> {
    const pending: Promise<void>[] = [];
    for (let n = 0; !stopped.signal.aborted; n += 1) {
      const user = n % 4 < 2 ? 'admin' : 'sync';
      const path = user === 'admin' ? `${CONFIG_MAPS}/${NAME}` : VERSION;
      pending.push(counted({ path, user, agent: n % 2 === 0 ? agents[user] : undefined }));
      const nextMs = startMs + (n + 1) * EVERY_MS;
      await clock.sleep(Math.max(0, nextMs - clock.monotonicMs()), stopped.signal).catch(() => undefined);
    }
    await Promise.all(pending);
  }

  async function write(): Promise<void> {
    for (let n = 0; !stopped.signal.aborted; n += 1) {
      const body = { data: { n: String(n) } };
      await counted({
        path: `${CONFIG_MAPS}/${NAME}`,
        user: 'admin',
        agent: agents.admin,
        method: 'PATCH',
        body,
      });
      await clock.sleep(WRITE_EVERY_MS, stopped.signal).catch(() => undefined);
    }
  }

  async function counted(call: Call): Promise<void> {
    const sentMs = clock.monotonicMs();
    noticed.requests += 1;
    try {
      await sendAgain(call);
      const nowMs = clock.monotonicMs();
      noticed.slowestMs = Math.max(noticed.slowestMs, nowMs - sentMs);
      noticed.outageMs = Math.max(noticed.outageMs, nowMs - answeredMs);
      answeredMs = nowMs;
    } catch (error) {
      const kind = call.agent ? 'kept' : 'new';
      errors.push(`${Math.round(sentMs - startMs)} ms ${kind} ${call.method ?? 'GET'}: ${String(error)}`);
    }
  }

  function countFirst(error: unknown): void {
    noticed.failedOnce += 1;
    if (error instanceof NotProcessed) noticed[error.afterSeconds === undefined ? 'ended' : 'refused'] += 1;
  }

  async function sendAgain(call: Call, attempt = 0): Promise<void> {
    try {
      await send(call);
    } catch (error) {
      if (attempt === 0) countFirst(error);
      if (!(error instanceof NotProcessed) || attempt === MAX_RETRIES) throw error;
      const { afterSeconds } = error;
      if (afterSeconds !== undefined) await clock.sleep(afterSeconds * 1000);
      await sendAgain({ ...call, agent: undefined }, attempt + 1);
    }
  }

  function send(call: Call): Promise<void> {
    return new Promise((resolve, reject) => {
      const outgoing = open(call, AbortSignal.timeout(REQUEST_MS));
      outgoing.once('response', (incoming) => {
        incoming.resume();
        incoming.once('error', reject);
        const { statusCode = 0 } = incoming;
        incoming.once('end', () => {
          const refusal = refusalOf(statusCode, incoming.headers['retry-after']);
          if (refusal) reject(refusal);
          else resolve();
        });
      });
      outgoing.once('error', (error) => {
        const wasEnded = outgoing.reusedSocket && systemCode(error) === 'ECONNRESET';
        reject(wasEnded ? new NotProcessed('the connection had ended', { cause: error }) : error);
      });
      outgoing.end(call.body === undefined ? undefined : JSON.stringify(call.body));
    });
  }

  /** A watch that ends is begun again from where it was, as every informer does. */
  async function watch(): Promise<void> {
    let lastMs = clock.monotonicMs();
    let version = '0';
    while (!stopped.signal.aborted) {
      const path = `${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name=${NAME}&resourceVersion=${version}`;
      await readWatch(path, (line) => {
        const nowMs = clock.monotonicMs();
        noticed.watchGapMs = Math.max(noticed.watchGapMs, nowMs - lastMs - WRITE_EVERY_MS);
        lastMs = nowMs;
        version = /"resourceVersion":"(?<version>\d+)"/.exec(line)?.groups?.['version'] ?? version;
      });
      await clock.sleep(50, stopped.signal).catch(() => undefined);
    }
  }

  async function readWatch(path: string, onLine: (line: string) => void): Promise<void> {
    const incoming = await new Promise<IncomingMessage | undefined>((resolve) => {
      const outgoing = open({ path, user: 'admin' }, stopped.signal);
      outgoing.once('response', resolve);
      outgoing.once('error', () => resolve(undefined));
      outgoing.end();
    });
    if (!incoming) return;
    let rest = '';
    try {
      for await (const piece of incoming) {
        const lines = `${rest}${String(piece)}`.split('\n');
        rest = lines.pop() ?? '';
        lines.filter(isChange).forEach(onLine);
      }
    } catch {
      // The connection of the watch was cut off.
    }
  }
}

function isChange(line: string): boolean {
  return line.includes('"MODIFIED"') || line.includes('"ADDED"');
}

/** A conflict is an answer, too. */
function refusalOf(status: number, retryAfter: string | undefined): Error | undefined {
  if (status < 300 || status === 409) return undefined;
  const text = `status ${status}`;
  const isLater = (status === 429 || status === 503) && retryAfter !== undefined;
  return isLater ? new NotProcessed(text, { afterSeconds: Number(retryAfter) }) : new Error(text);
}
