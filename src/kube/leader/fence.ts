/** Stops every write of a client that is not allowed when it would be sent. */
import { messageOf } from '../../os/errors.ts';
import { KubeError } from '../client/errors.ts';
import type { HttpRequest, Transport } from '../transport/transport.ts';

/**
 * `fence` throws unless writes are allowed, for example `term.fence` of a Lease. It is called as late as possible:
 * after the wait for a slot in the queue, for new credentials, for a connection, or for a suspended process to resume. A request that
 * was already sent when the lease is lost cannot be stopped: the epoch protects against it.
 */
export function createFencedTransport(transport: Transport, fence: () => void): Transport {
  const fenced = (request: HttpRequest): HttpRequest => {
    if (request.method === 'GET') return request;
    const { beforeSend } = request;
    return {
      ...request,
      beforeSend: () => {
        askFence(fence);
        beforeSend?.();
      },
    };
  };
  return {
    request: (request) => transport.request(fenced(request)),
    stream: (request) => transport.stream(fenced(request)),
    close: () => transport.close(),
  };
}

/** Rejects with a KubeError whatever the fence throws. */
export function askFence(fence: () => void): void {
  try {
    fence();
  } catch (error) {
    const why = messageOf(error);
    throw new KubeError('Aborted', `request not sent: ${why}`, { cause: error });
  }
}
