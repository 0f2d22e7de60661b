/** Stops every write of a client that is not allowed at the moment at which it would leave. */
import { KubeError } from '../client/errors.ts';
import type { HttpRequest, Transport } from '../transport/transport.ts';

/**
 * `fence` throws unless we may write: `term.fence` of a Lease. It is asked as late as possible: after a wait for a
 * place in the queue, for new credentials, or for the end of a standstill. What is under way when the lead is lost
 * cannot be called back; for that there is the epoch.
 */
export function createFencedTransport(transport: Transport, fence: () => void): Transport {
  const guarded = (request: HttpRequest): HttpRequest => {
    if (request.method === 'GET') return request;
    const { beforeSend } = request;
    return {
      ...request,
      beforeSend: () => {
        check(fence);
        beforeSend?.();
      },
    };
  };
  return {
    request: (request) => transport.request(guarded(request)),
    stream: (request) => transport.stream(guarded(request)),
    close: () => transport.close(),
  };
}

function check(fence: () => void): void {
  try {
    fence();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new KubeError('Aborted', `nothing was sent: ${why}`, { cause: error });
  }
}
