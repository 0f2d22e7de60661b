/**
 * Probes the kubelet of another host: with one connection, without credentials, and for a bounded time. An answer of any kind proves that the
 * host lives; what it answers is not read.
 */
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { PeerResult } from '../../api/enums.ts';
import { systemCode } from '../../os/errors.ts';

export interface ProbedKubelet {
  readonly address: string;
  readonly port: number;
}

/** The kernel of the host, or one on the way to it, tells so. */
const RESULT_OF: Readonly<Record<string, PeerResult>> = {
  ECONNREFUSED: 'Refused',
  // A connection is reset only after it was accepted; before, it is refused.
  ECONNRESET: 'PortOpen',
  EHOSTUNREACH: 'NoAnswer',
  EHOSTDOWN: 'NoAnswer',
  ETIMEDOUT: 'NoAnswer',
};

/** Never rejects. A name is not looked up: what it resolves to is not what the controllers checked. */
export async function probeKubelet(kubelet: ProbedKubelet, timeoutMs: number): Promise<PeerResult> {
  return isIP(kubelet.address) === 0 ? 'Unknown' : await connectTo(kubelet, timeoutMs);
}

function connectTo({ address, port }: ProbedKubelet, timeoutMs: number): Promise<PeerResult> {
  const { promise, resolve } = Promise.withResolvers<PeerResult>();
  const signal = AbortSignal.timeout(timeoutMs);
  // A kubelet has a certificate of its own, which is not checked: nothing is sent that must not be known.
  const options = { host: address, port, path: '/healthz', signal, agent: false, rejectUnauthorized: false };
  const request = httpsRequest(options, (response) => {
    // Also 401: the kubelet answers.
    resolve('KubeletAnswers');
    response.destroy();
  });
  let isOpen = false;
  request.on('socket', (socket) => socket.once('connect', () => (isOpen = true)));
  request.on('error', (error) => resolve(isOpen ? 'PortOpen' : resultOfError(error, signal)));
  // After an answer with another protocol there is neither a response nor an error.
  request.on('close', () => resolve(isOpen ? 'PortOpen' : 'Unknown'));
  request.end();
  return promise;
}

/** Returns Unknown for what fails on this host, such as a missing route: it proves nothing about the other one. */
function resultOfError(error: Error, signal: AbortSignal): PeerResult {
  if (signal.aborted) return 'NoAnswer';
  return RESULT_OF[systemCode(error) ?? ''] ?? 'Unknown';
}
