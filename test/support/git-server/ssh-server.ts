/** A real OpenSSH server without root privileges. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';

const SSHD = '/usr/sbin/sshd';

/** Why ssh cannot be tested on this machine; undefined when it can. */
export function sshUnavailableReason(): string | undefined {
  if (!existsSync(SSHD)) return `${SSHD} is not installed (Debian: openssh-server)`;
  if (spawnSync('ssh', ['-V']).error) return 'the ssh client is not installed';
  return undefined;
}

export type SshFault = 'none' | 'hang' | 'truncate' | 'fail';

export interface GitSshServer {
  /** `ssh://user@127.0.0.1:port`, without the path. */
  readonly url: string;
  readonly hostKey: string;
  readonly privateKey: string;
  readonly otherKey: string;
  readonly otherHostKey: string;
  fail(fault: SshFault): void;
  close(): Promise<void>;
}

export async function startGitSshServer(folder: string): Promise<GitSshServer> {
  mkdirSync(folder, { recursive: true });
  const host = keyPair(folder, 'host');
  const user = keyPair(folder, 'user');
  const other = keyPair(folder, 'other');
  const faultFile = join(folder, 'fault');
  writeFileSync(
    join(folder, 'authorized_keys'),
    `command="${commandScript(folder, faultFile)}",restrict ${user.publicKey}`,
  );
  const port = await freePort();
  writeFileSync(join(folder, 'sshd_config'), sshdConfig(folder, port));
  // sshd requires this folder when it runs as root.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const server = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await untilListening(port, () => (server.exitCode === null ? undefined : log));

  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    hostKey: `[127.0.0.1]:${port} ${host.publicKey.trim()}`,
    otherHostKey: `[127.0.0.1]:${port} ${other.publicKey.trim()}`,
    privateKey: user.privateKey,
    otherKey: other.privateKey,
    fail: (fault) =>
      fault === 'none' ? rmSync(faultFile, { force: true }) : writeFileSync(faultFile, fault),
    close: () =>
      new Promise((resolve) => {
        server.once('exit', () => resolve());
        if (server.exitCode === null) server.kill('SIGTERM');
        else resolve();
      }),
  };
}

function keyPair(folder: string, name: string): { privateKey: string; publicKey: string } {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
  return { privateKey: readFileSync(path, 'utf8'), publicKey: readFileSync(`${path}.pub`, 'utf8') };
}

/** The only command that the key may run: git, or the fault. */
function commandScript(folder: string, faultFile: string): string {
  const path = join(folder, 'command');
  writeFileSync(
    path,
    `#!/bin/sh
fault=none
if [ -e '${faultFile}' ]; then read -r fault < '${faultFile}'; fi
case "$fault" in
  hang) exec sleep 600 ;;
  fail) exit 1 ;;
  truncate)
    # The session's own sshd: our parent, or that of the shell which started us.
    session=$PPID
    case "$(ps -o comm= -p $PPID)" in sshd*) ;; *) session=$(ps -o ppid= -p $PPID) ;; esac
    eval "$SSH_ORIGINAL_COMMAND" | { dd bs=1 count=2000 status=none; kill -9 $session; } ;;
  *) eval "exec $SSH_ORIGINAL_COMMAND" ;;
esac
`,
  );
  chmodSync(path, 0o755);
  return path;
}

// HOME without startup files: the user's shell would run them in every session. A key exchange that is cheaper than the default.
function sshdConfig(folder: string, port: number): string {
  return `Port ${port}
ListenAddress 127.0.0.1
HostKey ${join(folder, 'host')}
AuthorizedKeysFile ${join(folder, 'authorized_keys')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
KexAlgorithms curve25519-sha256
SetEnv HOME=${folder}
LogLevel ERROR
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function untilListening(port: number, ended: () => string | undefined): Promise<void> {
  for (;;) {
    if (await isListening(port)) return;
    const log = ended();
    if (log !== undefined) throw new Error(`sshd ended: ${log}`);
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => done(true)).once('error', () => done(false));
    function done(found: boolean): void {
      socket.destroy();
      resolve(found);
    }
  });
}
