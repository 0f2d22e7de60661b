/** Is it ready? One HTTPS request on a connection of its own, as simple as it can be. */
import { request } from 'node:https';
import type { Clock } from '../../os/clock.ts';
import { type Command, createExitError, isRunning, readLogTail } from '../../os/process.ts';
import type { ProcessIdentity } from '../../os/process-identity.ts';
import { LocalError } from '../errors.ts';
import type { Pair } from '../pki/certificate.ts';

export interface Endpoint {
  /** https://127.0.0.1:port/path */
  readonly url: string;
  readonly caPem: string;
  readonly client?: Pair;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

const ANSWER_MS = 5000;
const POLL_MS = 100;

export interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly timeoutMs?: number;
}

/** Rejects when there is no whole answer in time. */
export function ask(
  endpoint: Endpoint,
  { method = 'GET', body, timeoutMs = ANSWER_MS }: Ask = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      endpoint.url,
      {
        method,
        ca: endpoint.caPem,
        ...(endpoint.client ? { cert: endpoint.client.certPem, key: endpoint.client.keyPem } : {}),
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
      },
      (incoming) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('error', reject);
        incoming.on('end', () => {
          resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(pieces).toString('utf8') });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export async function isReady(endpoint: Endpoint): Promise<boolean> {
  return (await ask(endpoint).catch(() => undefined))?.status === 200;
}

export interface Waiting {
  readonly identity: ProcessIdentity;
  readonly command: Command;
  readonly endpoint: Endpoint;
  readonly logFile: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Until it answers 200. Gives up when the process ends, the time is over, or the person does not want to wait. */
export async function waitUntilReady(waiting: Waiting): Promise<void> {
  const { clock, signal } = waiting;
  const deadline = clock.monotonicMs() + waiting.timeoutMs;
  while (!(await isReady(waiting.endpoint))) {
    signal?.throwIfAborted();
    if (!(await isRunning(waiting.identity))) throw await createExitError(waiting.command, waiting.logFile);
    if (clock.monotonicMs() >= deadline) throw await lateError(waiting);
    await clock.sleep(POLL_MS, signal);
  }
}

async function lateError({ command, endpoint, logFile, timeoutMs }: Waiting): Promise<LocalError> {
  const seconds = Math.round(timeoutMs / 1000);
  const message = `${command.program} is not ready after ${seconds} s\n${await readLogTail(logFile)}`;
  return new LocalError('NotReady', message, {
    where: endpoint.url,
    hint: `read ${logFile}; a busy or slow machine may need more time: --timeout`,
  });
}
