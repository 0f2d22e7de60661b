/** Forwards to a real API server with a certificate of the client's user: the server sees the same user as without a proxy. */
import { X509Certificate } from 'node:crypto';
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { ADMIN, type Principal } from '../../../src/local/pki/authority.ts';
import type { CertificatePair } from '../../../src/local/pki/certificate.ts';

/** The part of `startApiServer()` that the proxy needs. */
export interface ApiServerAddress {
  readonly url: string;
  readonly caPem: string;
  certificateFor(principal: Principal): CertificatePair;
}

export interface Outgoing {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Upstream {
  /** Undefined for clients without a certificate of this server's CA: the server handles them as without a proxy. */
  principalOf(socket: TLSSocket): Principal | undefined;
  /** Resolves when the headers of the answer have arrived. */
  send(outgoing: Outgoing, as: Principal | undefined, signal: AbortSignal): Promise<IncomingMessage>;
  /** The real UID of its namespace kube-system. */
  uid(): Promise<string>;
  close(): void;
}

// Headers of the connection, not of the message: RFC 9110, 7.6.1.
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host'];

export function upstreamTo(server: ApiServerAddress): Upstream {
  const authority = new X509Certificate(server.caPem);
  const agents = new Map<string, Agent>();
  const known = new WeakMap<TLSSocket, Principal | undefined>();
  let uid: Promise<string> | undefined;

  return {
    principalOf,
    send,
    uid: () => (uid ??= readUid()),
    close: () => {
      for (const agent of agents.values()) agent.destroy();
    },
  };

  /** Once for each connection: a signature costs more than a whole request. */
  function principalOf(socket: TLSSocket): Principal | undefined {
    if (!known.has(socket)) known.set(socket, readPrincipal(socket));
    return known.get(socket);
  }

  function readPrincipal(socket: TLSSocket): Principal | undefined {
    const certificate = socket.getPeerX509Certificate();
    if (!certificate?.checkIssued(authority) || !certificate.verify(authority.publicKey)) return undefined;
    const { subject } = certificate.toLegacyObject();
    return { user: [subject.CN].flat().join(), groups: [subject.O ?? []].flat() };
  }

  function send(
    { method, target, headers, body }: Outgoing,
    as: Principal | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name));
    const length = body.length > 0 ? { 'content-length': body.length } : {};
    return new Promise((resolve, reject) => {
      const outgoing: ClientRequest = request(
        new URL(target, server.url),
        { method, headers: { ...Object.fromEntries(kept), ...length }, agent: agentOf(as), signal },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  function agentOf(as: Principal | undefined): Agent {
    const key = JSON.stringify(as ?? {});
    const open = agents.get(key);
    if (open) return open;
    const pair = as && server.certificateFor(as);
    const credentials = pair ? { cert: pair.certPem, key: pair.keyPem } : {};
    // Parsed once: an agent that has the certificates as texts parses them for each connection, and compares them for each request.
    const secureContext = createSecureContext({ ca: server.caPem, ...credentials });
    const agent = new Agent({ keepAlive: true, secureContext });
    agents.set(key, agent);
    return agent;
  }

  async function readUid(): Promise<string> {
    const target = '/api/v1/namespaces/kube-system';
    const asked = { method: 'GET', target, headers: {}, body: Buffer.alloc(0) };
    const answer = await send(asked, ADMIN, AbortSignal.timeout(30_000));
    const namespace = JSON.parse((await collect(answer)).toString('utf8')) as { metadata?: { uid?: string } };
    if (!namespace.metadata?.uid) throw new Error(`${server.url}${target} has no uid (${answer.statusCode})`);
    return namespace.metadata.uid;
  }
}

/** The whole body; rejects if it is incomplete. */
export async function collect(stream: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}
