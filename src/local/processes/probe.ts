/** Probes whether a process is ready: one HTTPS request on a new connection. */
import { request } from 'node:https';
import { type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../os/clock.ts';
import { pollUntil } from '../../os/poll.ts';
import { type Command, createExitError, readLogTail } from '../../os/process/child.ts';
import { isRunning, type ProcessIdentity } from '../../os/process/identity.ts';
import { LocalError } from '../errors.ts';
import type { CertificatePair } from '../pki/certificate.ts';

export interface ProbeEndpoint {
  /** https://127.0.0.1:port/path */
  readonly url: string;
  readonly caPem: string;
  readonly client?: CertificatePair;
  /** A name in the certificate of the server. Undefined: that of the URL. */
  readonly serverName?: string;
}

export interface ProbeResponse {
  readonly status: number;
  readonly body: string;
  /** The certificate that the server presented. */
  readonly certificate?: ServedCertificate | undefined;
}

export interface ServedCertificate {
  readonly serial: string;
  readonly notAfter: Date;
}

const RESPONSE_TIMEOUT_MS = 5000;
const POLL_MS = 100;

export interface ProbeOptions {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly timeoutMs?: number;
  /** The representation that is asked for. */
  readonly accept?: string;
  /** Ends the request before its time. */
  readonly signal?: AbortSignal | undefined;
}

/** Rejects without a complete response in time. */
export function sendProbe(
  endpoint: ProbeEndpoint,
  { method = 'GET', body, timeoutMs = RESPONSE_TIMEOUT_MS, accept, signal }: ProbeOptions = {},
): Promise<ProbeResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      endpoint.url,
      {
        method,
        ca: endpoint.caPem,
        ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
        ...(endpoint.client ? { cert: endpoint.client.certPem, key: endpoint.client.keyPem } : {}),
        agent: false,
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(accept === undefined ? {} : { accept }),
        },
      },
      (incoming) => {
        const pieces: Buffer[] = [];
        // Read before the end, after which the socket has no certificate any more.
        const certificate = servedBy(incoming.socket);
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(pieces).toString('utf8');
          resolve({ status: incoming.statusCode ?? 0, body: text, certificate });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function servedBy(socket: Socket): ServedCertificate | undefined {
  const found = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return found && { serial: found.serialNumber, notAfter: found.validToDate };
}

export async function isEndpointReady(endpoint: ProbeEndpoint): Promise<boolean> {
  return (await sendProbe(endpoint).catch(() => undefined))?.status === 200;
}

export interface ReadyWait {
  readonly identity: ProcessIdentity;
  readonly command: Command;
  readonly endpoint: ProbeEndpoint;
  readonly logFile: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Waits for status 200. Throws if the process exits, on timeout, or if the signal is aborted. */
export async function waitUntilReady(wait: ReadyWait): Promise<void> {
  const { clock, signal } = wait;
  const deadlineMs = clock.monotonicMs() + wait.timeoutMs;
  if (!(await pollUntil(isReady, { clock, everyMs: POLL_MS, deadlineMs, signal }))) {
    throw await createTimeoutError(wait);
  }

  async function isReady(): Promise<boolean> {
    if (await isEndpointReady(wait.endpoint)) return true;
    signal?.throwIfAborted();
    if (!isRunning(wait.identity)) throw await createExitError(wait.command, wait.logFile);
    return false;
  }
}

async function createTimeoutError({ command, endpoint, logFile, timeoutMs }: ReadyWait): Promise<LocalError> {
  const seconds = Math.round(timeoutMs / 1000);
  const message = `${command.program} is not ready after ${seconds} s:\n${await readLogTail(logFile)}`;
  return new LocalError('NotReady', message, {
    where: endpoint.url,
    hint: `check ${logFile}; on a busy or slow machine, increase --timeout`,
  });
}
