/** Shared by the tests of both transports. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type Connection,
  type CredentialSources,
  createCredentials,
} from '../../../src/kube/auth/credentials.ts';
import { isKubeError, type KubeError } from '../../../src/kube/client/errors.ts';
import type { TransportOptions } from '../../../src/kube/transport/base.ts';
import { createHttpsTransport } from '../../../src/kube/transport/https.ts';
import type { HttpRequest, HttpStream, Transport } from '../../../src/kube/transport/transport.ts';
import type { CertificatePair } from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../temp.ts';
import { authority } from './tls-server.ts';

export const GET: HttpRequest = { method: 'GET', path: '/api/v1/nodes' };
export const clock = createSystemClock();

export type TransportOf = (connection: Connection, options?: TransportOptions) => Transport;

/** The transports that must pass the contract. */
export const TRANSPORTS: readonly (readonly [name: string, transportOf: TransportOf])[] = [
  ['node:https', createHttpsTransport],
];

export type Open = (server: string, sources?: CredentialSources, options?: OpenOptions) => Transport;

export interface OpenOptions extends TransportOptions {
  /** How soon changes of files are detected; at once by default. */
  readonly checkEveryMs?: number;
}

/** Opens transports that trust the test authority. They are closed after the test. */
export function opener(transportOf: TransportOf): Open {
  return (server, sources = {}, { checkEveryMs = 0, ...options } = {}) => {
    const trust = sources.caFile === undefined ? { ca: authority.certPem } : {};
    const credentials = createCredentials(
      { ...trust, ...sources },
      { clock, origin: 'this test', checkEveryMs },
    );
    const transport = transportOf({ server, credentials, userAgent: 'kubenode/test' }, options);
    onTestFinished(() => transport.close());
    return transport;
  };
}

export async function failing(
  transport: Transport,
  request: Partial<HttpRequest> = {},
): Promise<{ error: KubeError }> {
  const outcome: unknown = await transport.request({ ...GET, ...request }).catch((error: unknown) => error);
  if (!isKubeError(outcome)) throw new Error(`expected a KubeError, got ${JSON.stringify(outcome)}`);
  return { error: outcome };
}

export async function firstOf({ body }: HttpStream): Promise<string> {
  for await (const piece of body) return Buffer.from(piece).toString();
  return '';
}

export async function drained(
  body: AsyncIterable<Uint8Array>,
  each: () => void = () => {},
): Promise<unknown> {
  try {
    for await (const _ of body) each();
    return 'a clean end';
  } catch (error) {
    return error;
  }
}

export interface PairFiles {
  readonly cert: string;
  readonly key: string;
  write(pair: CertificatePair): void;
}

export function filesFor(pair: CertificatePair): PairFiles {
  const folder = tempFolder();
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), write };
  write(pair);
  return files;

  function write({ certPem, keyPem }: CertificatePair): void {
    writeFileSync(files.cert, certPem);
    writeFileSync(files.key, keyPem);
  }
}

/** Answers every connection with these bytes. */
export async function rawServer(bytes: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

export async function unusedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
