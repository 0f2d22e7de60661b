/** Opens one connection of the SSH library. No credential is sent before the key of the host is accepted. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import ssh2, { type AuthMethod, type Client } from 'ssh2';
import type { HostKey } from '../../../api/generated/types.ts';
import { whenAborted } from '../../../os/deadline.ts';
import { SshError, toSshError } from '../errors.ts';
import { hostKeyOf } from '../host-keys.ts';
import { formatTarget, type SshTarget } from '../target.ts';
import type { SshCredentials } from './credentials.ts';

export interface ClientRequest {
  readonly target: SshTarget;
  readonly credentials: SshCredentials;
  readonly algorithms: readonly string[];
  /** Explains why the key is refused; undefined: it is accepted. */
  readonly refusalReason: (key: HostKey) => string | undefined;
  /** The stream through a jump host. Undefined: a connection of its own. */
  readonly stream?: Duplex;
  readonly signal: AbortSignal;
}

export interface OpenClient {
  readonly client: Client;
  readonly hostKey: HostKey;
  /** The stream that the connection writes to. The library writes any amount to it: a caller that sends much has to wait for it. */
  readonly stream: Duplex;
}

export function openClient(request: ClientRequest): Promise<OpenClient> {
  const where = formatTarget(request.target);
  const client = new ssh2.Client();
  const { address: host, port } = request.target;
  return new Promise((resolve, reject) => {
    let hostKey: HostKey | undefined;
    let refusal: SshError | undefined;
    const stopListening = whenAborted(request.signal, fail);
    // The library reports a key of the agent that cannot sign, and tries the next one.
    client.on('error', (error: Error & { level?: string }) => {
      if (error.level !== 'agent') fail(refusal ?? toSshError(error, where));
    });
    client.once('close', () =>
      fail(new SshError('Unreachable', 'the server closed the connection', { where })),
    );
    if (request.signal.aborted) return;
    const stream = request.stream ?? connect({ host, port });
    client.once('ready', () => {
      stopListening();
      if (hostKey) resolve({ client, hostKey, stream });
    });
    client.connect({ ...configOf(request), sock: stream, hostVerifier: verify });

    function verify(blob: Buffer): boolean {
      hostKey = hostKeyOf(blob);
      const reason = request.refusalReason(hostKey);
      if (reason === undefined) return true;
      refusal = new SshError('HostKeyMismatch', `the host has another key: ${reason}`, { where });
      return false;
    }

    function fail(error: Error): void {
      stopListening();
      reject(error);
      client.destroy();
    }
  });
}

function configOf({ target: { user }, credentials, algorithms }: ClientRequest) {
  const { privateKey, agent } = credentials;
  const methods: readonly (AuthMethod | undefined)[] = [
    privateKey && { type: 'publickey', username: user, key: privateKey },
    agent === undefined ? undefined : { type: 'agent', username: user, agent },
  ];
  return {
    username: user,
    authHandler: methods.filter((method) => method !== undefined),
    algorithms: { serverHostKey: algorithms },
    // The caller has a deadline for all of it.
    readyTimeout: 0,
  };
}
