/** Names what can go wrong on the way to a host and on it, each with a hint. No error carries a secret. */
import { optional } from '../../kube/objects/optional.ts';
import { OsError } from '../../os/errors.ts';

export type SshErrorCode =
  | 'InvalidTarget' // the address or the user may not be used
  | 'Unreachable' // no connection: name, network, port, or the server closed it
  | 'Timeout' // the host did not answer, or a script did not end, in time
  | 'HandshakeFailed' // the server is not SSH, or shares no algorithm with us
  | 'HostKeyMismatch' // another key than the pinned one: nothing was sent
  | 'InvalidKey' // our own private key cannot be used
  | 'AuthRefused' // the host accepts none of our keys for this user
  | 'NoSudo' // sudo is missing, or refuses this user or password
  | 'SudoPassword' // sudo asks for a password, and we have none
  | 'ScriptFailed'
  | 'OutputTooLarge';

const HINTS: Record<SshErrorCode, string> = {
  InvalidTarget: 'write the host as [user@]address[:port], an IPv6 address with a port as [address]:port',
  Unreachable: 'check the address and the port, and that sshd runs and the firewall lets this machine in',
  Timeout: 'check that the host is up and not overloaded, or allow more time',
  HandshakeFailed: 'check that the port is that of sshd, and which algorithms its sshd_config permits',
  HostKeyMismatch:
    'find out whether the host was reinstalled (on its console: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then pin the new key; otherwise another server answers in its place. No credential was sent',
  InvalidKey: 'use a private key in the format of OpenSSH or PEM',
  AuthRefused:
    'add the public key to ~/.ssh/authorized_keys of that user, or use another key or user (`ssh-add -l` lists those of the agent)',
  NoSudo: 'install sudo and permit this user to run /bin/sh as root, or connect as root',
  SudoPassword: 'permit the user to run /bin/sh by sudo with NOPASSWD, or provide the password',
  ScriptFailed: 'read the output, and run the command again',
  OutputTooLarge: 'check what the login shell of this user prints in sessions without a terminal',
};

export interface SshErrorDetails {
  /** The host, as `user@address:port`. */
  readonly where: string;
  /** The hint, where more is known than the code tells. */
  readonly hint?: string;
  readonly cause?: unknown;
}

export class SshError extends OsError<SshErrorCode> {
  override readonly name = 'SshError';

  constructor(code: SshErrorCode, message: string, { where, hint, cause }: SshErrorDetails) {
    super(code, message, { where, hint: hint ?? HINTS[code], cause });
  }
}

export function isSshError(error: unknown, ...codes: SshErrorCode[]): error is SshError {
  return error instanceof SshError && (codes.length === 0 || codes.includes(error.code));
}

/** Reads what ssh2 sets on its errors beside the message: where in the protocol an error happened. */
interface LibraryError extends Error {
  readonly level?: string;
  readonly code?: unknown;
}

interface NetworkProblem {
  readonly because: string;
  /** The hint, where more is known than that a host is unreachable. */
  readonly hint?: string;
}

const NETWORK: Readonly<Record<string, NetworkProblem>> = {
  ECONNREFUSED: { because: 'the connection was refused' },
  ECONNRESET: { because: 'the connection was reset' },
  EHOSTUNREACH: {
    because: 'the host cannot be reached from this machine',
    hint: 'check that the host is up, that its address is right, and that no firewall on the way rejects the port',
  },
  ENETUNREACH: {
    because: 'the network of the host cannot be reached from this machine',
    hint: 'check the routes of this machine, or reach the host through a jump host (via)',
  },
  ENOTFOUND: { because: 'the name does not resolve' },
  EAI_AGAIN: { because: 'the name cannot be resolved now' },
  EPIPE: { because: 'the connection was closed' },
};

/** Converts an error of the SSH library, by the place where it happened, never by its message. */
export function toSshError(error: unknown, where: string): SshError {
  if (error instanceof SshError) return error;
  const { level, code, message } = error as LibraryError;
  if (level === 'client-authentication') {
    return new SshError('AuthRefused', 'the host refuses every key that was offered', {
      where,
      cause: error,
    });
  }
  if (isHandshakeError(error as LibraryError)) {
    return new SshError('HandshakeFailed', `the SSH handshake failed: ${message}`, { where, cause: error });
  }
  const { because, hint } = networkProblem(code) ?? { because: message };
  const details = { where, cause: error, ...optional('hint', hint) };
  return new SshError('Unreachable', `no SSH connection: ${because}`, details);
}

function networkProblem(code: unknown): NetworkProblem | undefined {
  if (typeof code !== 'string') return undefined;
  return NETWORK[code] ?? { because: code };
}

/** An error that the library throws while it parses the greeting of a server has neither a level nor a code. */
function isHandshakeError({ level, code }: LibraryError): boolean {
  if (level === 'handshake' || level === 'protocol') return true;
  return level === undefined && code === undefined;
}
