/** What went wrong on the way to a git server, by Node's and OpenSSL's codes. */
import { GitError } from './errors.ts';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ECONNRESET: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  HPE_INVALID_CONSTANT: 'the answer is no HTTP',
};

// Node names certificate errors after OpenSSL: CERT_HAS_EXPIRED, SELF_SIGNED_CERT_IN_CHAIN, UNABLE_TO_GET_ISSUER_CERT_LOCALLY, …
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

export function gitNetworkError(error: unknown, display: string): GitError {
  const { code, text } = rootOf(error);
  const details = { where: display, cause: error };
  if (CERTIFICATE.test(code)) {
    return new GitError('Certificate', `the server's certificate is not trusted (${code})`, {
      ...details,
      hint: 'check the URL, or put the authority into a Secret and name it in spec.source.caRef',
    });
  }
  if (code === 'ETIMEDOUT') {
    return new GitError('Timeout', 'the server did not answer in time', {
      ...details,
      hint: 'sync tries again',
    });
  }
  return new GitError('Unreachable', WORDS[code] ?? `the exchange failed: ${text}`, {
    ...details,
    hint: 'check the URL and the network between; sync tries again',
  });
}

interface Raw {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly unknown[];
  readonly cause?: unknown;
}

/** Several addresses tried give an AggregateError; the first one says why. */
function rootOf(error: unknown): { readonly code: string; readonly text: string } {
  const { code, message, errors, cause } = (error ?? {}) as Raw;
  if (code !== undefined) return { code, text: message ?? code };
  const inner = errors?.[0] ?? cause;
  return inner === undefined ? { code: '', text: message ?? String(error) } : rootOf(inner);
}
