/** A real OpenSSH server of the user that runs the tests, without root. Each starts with keys of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { HostKey } from '../../../src/api/generated/types.ts';
import { parsePrivateKey, type SshCredentials } from '../../../src/providers/ssh/channel/credentials.ts';
import type { SshTarget } from '../../../src/providers/ssh/target.ts';
import { eventually } from '../../support/eventually.ts';
import { sshUnavailableReason } from '../../support/git-server/ssh-server.ts';

export { sshUnavailableReason };

export interface SshServer {
  readonly target: SshTarget;
  /** As `ssh-keygen -l` prints them. */
  readonly hostKeys: readonly HostKey[];
  /** The home folder of sessions. */
  readonly home: string;
  /** What the server has logged. */
  log(): string;
  /** Users of the requests for authentication that arrived. */
  authRequests(): readonly string[];
  close(): Promise<void>;
}

export interface SshServerOptions {
  readonly keyTypes?: readonly string[];
  /** Public keys that may log in. */
  readonly authorized: readonly string[];
  /** Programs that sessions find first. */
  readonly bin?: string;
  /** Further lines of its config: Match blocks, and addresses where it listens too. */
  readonly lines?: readonly string[];
}

export interface UserKey {
  readonly file: string;
  /** The text of the file. */
  readonly privateKey: string;
  readonly publicKey: string;
}

/** With a passphrase, the least work to guess it: one round. */
export function makeUserKey(folder: string, name: string, passphrase = ''): UserKey {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '1', '-N', passphrase, '-C', name, '-f', file]);
  return {
    file,
    privateKey: readFileSync(file, 'utf8'),
    publicKey: readFileSync(`${file}.pub`, 'utf8'),
  };
}

export async function startSshServer(
  folder: string,
  { keyTypes = ['ed25519'], authorized, bin, lines = [] }: SshServerOptions,
): Promise<SshServer> {
  mkdirSync(folder, { recursive: true });
  for (const type of keyTypes) {
    execFileSync('ssh-keygen', [
      '-q',
      '-t',
      type,
      '-N',
      '',
      '-C',
      'host',
      '-f',
      join(folder, `host_${type}`),
    ]);
  }
  writeFileSync(join(folder, 'authorized_keys'), authorized.join(''));
  const port = await freePort();
  writeFileSync(join(folder, 'sshd_config'), config(folder, { port, keyTypes, bin, lines }));
  // sshd requires this folder when it runs as root.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const log = join(folder, 'log');
  const server = spawn('/usr/sbin/sshd', ['-D', '-E', log, '-f', join(folder, 'sshd_config')], {
    stdio: 'ignore',
  });
  const read = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  await eventually(async () => {
    if (server.exitCode !== null) throw new Error(`sshd ended: ${read()}`);
    return read().includes('Server listening') ? true : undefined;
  }, 'sshd does not listen');
  return {
    target: { address: '127.0.0.1', port, user: userInfo().username },
    hostKeys: keyTypes.map((type) => keyOf(join(folder, `host_${type}.pub`))),
    home: folder,
    log: read,
    authRequests: () => [...read().matchAll(/userauth-request for user (\S+)/g)].map(([, user = '']) => user),
    close: () =>
      new Promise((resolve) => {
        server.once('exit', () => resolve());
        if (server.exitCode === null) server.kill('SIGTERM');
        else resolve();
      }),
  };
}

function keyOf(file: string): HostKey {
  const [algorithm = ''] = readFileSync(file, 'utf8').split(' ');
  const [, fingerprint = ''] = execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).split(' ');
  return { algorithm, fingerprint };
}

interface Config {
  readonly port: number;
  readonly keyTypes: readonly string[];
  readonly bin: string | undefined;
  readonly lines: readonly string[];
}

// No limit of connections: tests open many at once. DEBUG1 logs each request for authentication.
function config(folder: string, { port, keyTypes, bin, lines }: Config): string {
  const path = `${bin === undefined ? '' : `${bin}:`}/usr/bin:/bin:/usr/sbin:/sbin`;
  return `Port ${port}
ListenAddress 127.0.0.1
${keyTypes.map((type) => `HostKey ${join(folder, `host_${type}`)}`).join('\n')}
AuthorizedKeysFile ${join(folder, 'authorized_keys')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 200
KexAlgorithms curve25519-sha256
SetEnv HOME=${folder} PATH=${path}
LogLevel DEBUG1
${lines.join('\n')}
`;
}

/** The credentials that offer this key. */
export function credentialsOf({ privateKey, file }: UserKey): SshCredentials {
  return { privateKey: parsePrivateKey(privateKey, undefined, file) };
}

export interface SilentServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Accepts connections and never sends anything, as a host that hangs. */
export async function startSilentServer(address = '127.0.0.1'): Promise<SilentServer> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => void server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** A port on which nothing listens, until somebody takes it. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
