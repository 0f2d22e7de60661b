/** Why an exchange over the network failed, by the error codes of Node, OpenSSL and undici. */

export interface NetworkFault {
  readonly kind: 'timeout' | 'certificate' | 'unreachable';
  /** For people, without a hint that only one caller can give. */
  readonly message: string;
  /** The code of the innermost error, for logs. */
  readonly code: string | undefined;
}

const UNTRUSTED =
  "the server's certificate is signed by an authority that is not trusted here: wrong server, or wrong certificate authority?";
const NO_TLS = 'the server does not use TLS on this port: https in the URL, but plain http on the server?';
const CLIENT_REJECTED =
  'the server rejected our client certificate: expired, revoked, or of another authority?';
const RESET = 'the connection was reset';

const MESSAGES: Readonly<Record<string, string>> = {
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
  HPE_INVALID_CONSTANT: 'the answer is not HTTP',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
};

const TIMEOUTS: ReadonlySet<string | undefined> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

// Node names certificate errors after OpenSSL: CERT_HAS_EXPIRED, UNABLE_TO_VERIFY_LEAF_SIGNATURE, …
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

export function describeNetworkError(error: unknown): NetworkFault {
  const { code, text } = rootOf(error);
  if (TIMEOUTS.has(code)) return { kind: 'timeout', message: 'no answer in time', code };
  const kind = CERTIFICATE.test(code ?? '') ? 'certificate' : 'unreachable';
  return { kind, message: messageOf(code, text), code };
}

/** One side did not accept the other's certificate, or they have no TLS version in common. */
export function isHandshakeError(error: unknown): boolean {
  return /CERT|SSL|TLS|SIGNATURE|ISSUER|EPROTO/.test(rootOf(error).code ?? '');
}

function messageOf(code: string | undefined, text: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the server's certificate is for another name (${text}): use a name that it holds`;
  }
  const known = code === 'EPROTO' ? handshakeMessage(opensslReason(text)) : MESSAGES[code ?? ''];
  if (/^ERR_SSL_.*ALERT/.test(code ?? '')) return CLIENT_REJECTED;
  return known ?? `the exchange failed: ${text}`;
}

function handshakeMessage(reason: number): string | undefined {
  if (reason === WRONG_VERSION) return NO_TLS;
  return reason >= FIRST_ALERT ? CLIENT_REJECTED : undefined;
}

/** Where a handshake fails during a write, node:https reports EPROTO, and only OpenSSL's number tells why. */
function opensslReason(text: string): number {
  const [, reason = '0'] = /:error:0A([0-9A-F]{6}):/.exec(text) ?? [];
  return Number.parseInt(reason, 16);
}

const WRONG_VERSION = 0x10b;
/** OpenSSL adds 1000 to the number of an alert that the server sent. */
const FIRST_ALERT = 1000;

interface RootError {
  readonly text: string;
  readonly code: string | undefined;
}

interface RawError {
  readonly code?: string;
  readonly errors?: readonly unknown[];
  readonly cause?: unknown;
  readonly message?: string;
  /** OpenSSL's message, without the numbers. */
  readonly reason?: string;
}

/** The innermost error with a code: several tried addresses give an AggregateError, undici wraps the socket's error. */
function rootOf(error: unknown): RootError {
  const { code, errors, cause, message, reason } = (error ?? {}) as RawError;
  const root = innerRootOf(errors?.[0] ?? cause);
  return root ?? { text: reason ?? message ?? String(error), code };
}

function innerRootOf(inner: unknown): RootError | undefined {
  const root = inner === undefined ? undefined : rootOf(inner);
  return root?.code === undefined ? undefined : root;
}
