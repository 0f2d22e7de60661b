/** A TLS server with answers from the test, including invalid ones, and its certificates. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import {
  type CertificatePair,
  createAuthority,
  issueCertificate,
} from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface TlsServer {
  readonly url: string;
  readonly port: number;
  /** Number of opened connections. */
  handshakes(): number;
  /** The users of the client certificates, one for each connection. */
  readonly users: readonly string[];
  answer(handler: Handler): void;
  /** Uses another certificate for new connections, and closes the old ones. */
  present(pair: CertificatePair): void;
}

export const authority = createAuthority('kubernetes', createSystemClock().now(), 1);

export interface ServerOptions {
  readonly pair?: CertificatePair;
  /** The authority of accepted client certificates. */
  readonly clientAuthority?: CertificatePair;
}

export async function startTlsServer({
  pair = serverPair(),
  clientAuthority = authority,
}: ServerOptions = {}): Promise<TlsServer> {
  let handler = emptyObject;
  let handshakes = 0;
  const users: string[] = [];
  const server = createServer(
    {
      cert: pair.certPem,
      key: pair.keyPem,
      ca: clientAuthority.certPem,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => handler(request, response),
  );
  server.on('secureConnection', (socket: TLSSocket) => {
    handshakes += 1;
    users.push(String(socket.getPeerCertificate().subject?.CN ?? ''));
    socket.on('error', () => {}); // faults are what these tests are about
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    handshakes: () => handshakes,
    users,
    answer: (next) => {
      handler = next;
    },
    present: (next) => {
      server.setSecureContext({ cert: next.certPem, key: next.keyPem, ca: clientAuthority.certPem });
      server.closeAllConnections();
    },
  };
}

const emptyObject: Handler = (_, response) => response.end('{}');

export function serverPair(
  from: CertificatePair = authority,
  names: readonly string[] = ['127.0.0.1', 'localhost'],
): CertificatePair {
  const now = createSystemClock().now();
  return issueCertificate(from, {
    subject: { commonName: 'kube-apiserver' },
    usage: 'server',
    names,
    now,
    seconds: 86_400,
  });
}

/** Expired yesterday. */
export function expiredPair(): CertificatePair {
  const now = new Date(createSystemClock().now().getTime() - 3 * 86_400_000);
  const subject = { commonName: 'kube-apiserver' };
  return issueCertificate(authority, {
    subject,
    usage: 'server',
    names: ['127.0.0.1'],
    now,
    seconds: 2 * 86_400,
  });
}

export function clientPair(user: string, from: CertificatePair = authority): CertificatePair {
  return issueCertificate(from, {
    subject: { commonName: user },
    usage: 'client',
    now: createSystemClock().now(),
    seconds: 86_400,
  });
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
