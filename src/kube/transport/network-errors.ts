/** The KubeError for an exchange that failed on the network. Shared by both transports. */
import { describeNetworkError } from '../../os/net/network-errors.ts';
import { KubeError } from '../client/errors.ts';

/** `reason` of the KubeError is the machine's code, for logs. */
export function networkError(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  const { kind, message, code } = describeNetworkError(error);
  const hint = code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? ', or set tls-server-name' : '';
  return new KubeError(
    kind === 'timeout' ? 'Timeout' : 'Unreachable',
    message + hint,
    detailsOf(error, code),
  );
}

export function cutOffError(error: unknown): KubeError {
  const { code } = describeNetworkError(error);
  return new KubeError('Unreachable', 'the answer was cut off in the middle', detailsOf(error, code));
}

function detailsOf(cause: unknown, code: string | undefined): { cause: unknown; reason?: string } {
  return { cause, ...(code === undefined ? {} : { reason: code }) };
}
