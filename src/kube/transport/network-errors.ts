/** What went wrong on the way to a server, in words that name the way out. Shared by both transports. */
import { KubeError } from '../client/errors.ts';

const UNTRUSTED =
  "the server's certificate is signed by an authority that is not trusted here: wrong server, or wrong certificate-authority?";
const NO_TLS = 'the server speaks no TLS on this port: https in the URL, but plain http on the server?';
const REFUSED_US = 'the server refused our client certificate: expired, revoked, or of another authority?';
const RESET = 'the connection was reset';

/** By the error code of Node, OpenSSL or undici. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ECONNRESET: RESET,
  EPIPE: RESET,
  UND_ERR_SOCKET: RESET,
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up: no answer from DNS',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EMFILE: 'this process has too many open files and connections: raise its limit (ulimit -n)',
  CERT_HAS_EXPIRED:
    "the server's certificate has expired: renew it there, or check the clock of this machine",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet: check the clocks of both machines",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  CERT_UNTRUSTED: UNTRUSTED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  HPE_INVALID_CONSTANT: 'the answer is no HTTP',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
};

const TIMEOUTS = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** The KubeError for an exchange that failed: `reason` is the machine's code of it, for logs. */
export function networkError(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  const { code, text } = rootOf(error);
  const details = { cause: error, ...(code ? { reason: code } : {}) };
  if (code && TIMEOUTS.has(code)) return new KubeError('Timeout', 'no answer in time', details);
  return new KubeError('Unreachable', wordsFor(code, text), details);
}

/** One of the two sides did not accept the other's certificate. */
export function isHandshakeError(error: unknown): boolean {
  return /CERT|SSL|TLS|SIGNATURE|ISSUER|EPROTO/.test(rootOf(error).code ?? '');
}

export function cutOffError(error: unknown): KubeError {
  const { code } = rootOf(error);
  const details = { cause: error, ...(code ? { reason: code } : {}) };
  return new KubeError('Unreachable', 'the answer was cut off in the middle', details);
}

function wordsFor(code: string | undefined, text: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the server's certificate is for another name (${text}): use a name it holds, or tls-server-name`;
  }
  const known = code === 'EPROTO' ? handshakeWords(opensslReason(text)) : WORDS[code ?? ''];
  if (/^ERR_SSL_.*ALERT/.test(code ?? '')) return REFUSED_US;
  return known ?? `the exchange failed: ${text}`;
}

function handshakeWords(reason: number): string | undefined {
  if (reason === WRONG_VERSION) return NO_TLS;
  return reason >= FIRST_ALERT ? REFUSED_US : undefined;
}

/** Where a handshake breaks while it is written, node:https says EPROTO, and only OpenSSL's number says why. */
function opensslReason(text: string): number {
  const [, reason = '0'] = /:error:0A([0-9A-F]{6}):/.exec(text) ?? [];
  return Number.parseInt(reason, 16);
}

const WRONG_VERSION = 0x10b;
/** An alert of the server: its number and 1000. */
const FIRST_ALERT = 1000;

/** The innermost error with a code: several addresses tried give an AggregateError, undici wraps the socket's error. */
function rootOf(error: unknown): Root {
  const { code, errors, cause, message, reason } = (error ?? {}) as Raw;
  const inner = rootOfInner(errors?.[0] ?? cause);
  if (inner) return inner;
  const text = reason ?? message ?? String(error);
  return { text, ...(code ? { code } : {}) };
}

function rootOfInner(inner: unknown): Root | undefined {
  const root = inner === undefined ? undefined : rootOf(inner);
  return root?.code === undefined ? undefined : root;
}

interface Root {
  readonly text: string;
  readonly code?: string;
}

interface Raw {
  readonly code?: string;
  readonly errors?: readonly unknown[];
  readonly cause?: unknown;
  readonly message?: string;
  /** OpenSSL's words, without the numbers. */
  readonly reason?: string;
}
