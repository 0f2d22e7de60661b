/**
 * Sends one request to a BMC over TLS with a pinned certificate. The certificate is compared before the first byte of HTTP: another server
 * never receives a credential. Certificates of BMCs are mostly self-signed, so that nothing else about them is checked.
 */
import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ProviderError } from '../contract.ts';

export interface BmcEndpoint {
  readonly host: string;
  readonly port: number;
  /** SHA-256 of the certificate, as `SHA256:` and base64 without padding. */
  readonly fingerprint: string;
  /** How long one request may take, until its last byte. */
  readonly timeoutMs: number;
}

export interface BmcRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** A path of /redfish, never a URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface BmcAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Undefined for a body that is not JSON. */
  readonly body: unknown;
}

/** Rejects with a ProviderError, or with the reason of the signal. */
export async function sendToBmc(
  endpoint: BmcEndpoint,
  request: BmcRequest,
  signal: AbortSignal,
): Promise<BmcAnswer> {
  signal.throwIfAborted();
  const late = AbortSignal.timeout(endpoint.timeoutMs);
  const both = AbortSignal.any([signal, late]);
  const where = formatBmc(endpoint);
  let socket: TLSSocket | undefined;
  try {
    socket = await openSocket(endpoint, both);
    requirePinned(socket, endpoint);
    return await exchange(
      socket,
      { ...request, headers: { ...request.headers, host: hostOf(endpoint) } },
      both,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError) throw error;
    if (late.aborted) {
      const message = `BMC ${where} did not answer ${request.method} ${request.path} within ${endpoint.timeoutMs} ms`;
      throw new ProviderError('Retryable', message, { reason: 'BMCTimeout', cause: error });
    }
    const message = `BMC ${where} is unreachable: ${error instanceof Error ? error.message : 'the connection failed'}`;
    throw new ProviderError('Retryable', message, { reason: 'BMCUnreachable', cause: error });
  } finally {
    socket?.destroy();
  }
}

/** Returns the fingerprint of the certificate that the server shows now. It proves nothing: a person compares it with the BMC. */
export async function scanFingerprint(
  endpoint: Omit<BmcEndpoint, 'fingerprint'>,
  signal: AbortSignal,
): Promise<string> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(endpoint.timeoutMs)]);
  const socket = await openSocket(endpoint, both);
  try {
    return fingerprintOf(socket);
  } finally {
    socket.destroy();
  }
}

export function formatBmc({ host, port }: Pick<BmcEndpoint, 'host' | 'port'>): string {
  return `https://${hostOf({ host, port })}`;
}

const HTTPS_PORT = 443;

/** Returns the host as HTTP and the annotation of a Secret name it. */
export function hostOf({ host, port }: Pick<BmcEndpoint, 'host' | 'port'>): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === HTTPS_PORT ? name : `${name}:${port}`;
}

function openSocket(
  { host, port }: Pick<BmcEndpoint, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connectTls({
      host,
      port,
      ...name,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    });
    const abort = (): void => void socket.destroy(toError(signal.reason));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', abort));
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}

function requirePinned(socket: TLSSocket, endpoint: BmcEndpoint): void {
  const found = fingerprintOf(socket);
  if (found === endpoint.fingerprint) return;
  const message = `BMC ${formatBmc(endpoint)} has another certificate: expected ${endpoint.fingerprint}, got ${found}. Nothing was sent to it`;
  throw new ProviderError('Terminal', message, { reason: 'CertificateMismatch' });
}

function fingerprintOf(socket: TLSSocket): string {
  const { raw } = socket.getPeerCertificate() as { readonly raw?: Buffer };
  if (!raw) return 'no certificate';
  return `SHA256:${createHash('sha256').update(raw).digest('base64').replace(/=+$/, '')}`;
}

function exchange(socket: TLSSocket, sent: BmcRequest, signal: AbortSignal): Promise<BmcAnswer> {
  const { method, path, headers = {}, body } = sent;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const content =
    text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path,
      signal,
      headers: { accept: 'application/json', 'odata-version': '4.0', ...content, ...headers },
    });
    request.once('error', reject);
    request.once('response', (response) => {
      readText(response).then(
        (answer) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parseJson(answer) }),
        reject,
      );
    });
    request.end(text);
  });
}

/** A system with all its links has about 10 KiB. */
const MAX_BYTES = 1024 * 1024;

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the call was stopped');
}
