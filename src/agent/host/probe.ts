/** Probes over the network: http, grpc, tcp and socket. A probe that gets no answer in time fails. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { ComponentProbe } from '../../api/generated/types.ts';
import { probeGrpc } from './grpc-probe.ts';
import type { ProbeAnswer } from './port.ts';
import { failedProbe } from './probe-error.ts';

const LOCALHOST = '127.0.0.1';
const FIRST_BAD_STATUS = 400;

export async function probeNetwork(
  { http, grpc, tcp, socket, timeoutSeconds }: ComponentProbe,
  ports: ReadonlyMap<string, number>,
): Promise<ProbeAnswer> {
  const portOf = (port: string | number): number => ports.get(String(port)) ?? Number(port);
  const timeoutMs = timeoutSeconds * 1000;
  if (http) return await probeHttp({ ...http, portNumber: portOf(http.port) }, timeoutMs);
  if (grpc) {
    const { path, port = '', service } = grpc;
    const target = path === undefined ? { host: LOCALHOST, port: portOf(port) } : { path };
    return await probeGrpc(service, target, timeoutMs);
  }
  if (tcp) return await probeConnect({ host: LOCALHOST, port: portOf(tcp.port) }, timeoutMs);
  if (socket) return await probeConnect({ path: socket.path }, timeoutMs);
  return { passed: false, detail: 'not a probe over the network' };
}

interface HttpTarget {
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly path: string;
  readonly portNumber: number;
}

function probeHttp({ scheme, path, portNumber }: HttpTarget, timeoutMs: number): Promise<ProbeAnswer> {
  const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
  const send = scheme === 'HTTPS' ? httpsRequest : httpRequest;
  const signal = AbortSignal.timeout(timeoutMs);
  // A component that serves its own health has a certificate of its own: the probe asks whether it answers.
  const options = {
    host: LOCALHOST,
    port: portNumber,
    path,
    signal,
    agent: false,
    rejectUnauthorized: false,
  };
  const request = send(options, (response) => {
    response.resume();
    const { statusCode = 0 } = response;
    resolve({ passed: statusCode >= 200 && statusCode < FIRST_BAD_STATUS, detail: `answered ${statusCode}` });
    response.destroy();
  });
  request.on('error', (error) => resolve(failedProbe(error, signal)));
  // After an answer with another protocol there is neither a response nor an error.
  request.on('close', () => resolve({ passed: false, detail: 'closed without an answer' }));
  request.end();
  return promise;
}

function probeConnect(
  target: { readonly host: string; readonly port: number } | { readonly path: string },
  timeoutMs: number,
): Promise<ProbeAnswer> {
  const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
  const signal = AbortSignal.timeout(timeoutMs);
  const socket = connect({ ...target, signal });
  socket.on('connect', () => {
    resolve({ passed: true, detail: 'connected' });
    socket.destroy();
  });
  socket.on('error', (error) => resolve(failedProbe(error, signal)));
  return promise;
}
