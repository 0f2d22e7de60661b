/**
 * Hosts on this machine, behind one real sshd with an address for each: a session has a root folder of its own, with its own /var/lib and
 * /usr/local, so that scripts, preflight and the stand-in for the agent find what they have on a host. Their systemd is that of this machine.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostKey } from '../../../../src/api/generated/types.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeUserKey, sshUnavailableReason, startSshServer, type UserKey } from '../sshd.ts';

export interface SshdHosts {
  readonly key: UserKey;
  readonly port: number;
  readonly user: string;
  readonly hostKeys: readonly HostKey[];
  readonly addresses: readonly string[];
  /** Returns the root folder of the host at this address. */
  readonly root: (address: string) => string;
  /** All hosts are as they were when they started. */
  reset(): void;
  /** The texts of all files that are on the hosts, and the log of the server. */
  texts(): readonly string[];
  close(): Promise<void>;
}

/** In a new mount namespace, which without root needs a user namespace. */
const UNSHARE = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];

/** Undefined: hosts can be started here. */
export function noSshdHostsReason(): string | undefined {
  const reason = sshUnavailableReason();
  if (reason !== undefined) return reason;
  const { status } = spawnSync('unshare', [...UNSHARE, 'mount', '--bind', '/usr', '/usr']);
  return status === 0 ? undefined : 'this user may not mount in a namespace of its own (unshare)';
}

/** Arguments: the root folder, and the folder of its /usr/local. What this machine has elsewhere, the host has too. */
const ENTER = `set -e
root=$1
for name in bin sbin lib lib32 lib64 usr etc proc sys dev; do
  if [ -L "/$name" ]; then
    [ -L "$root/$name" ] || ln -s "$(readlink "/$name")" "$root/$name" || [ -L "$root/$name" ]
  elif [ -d "/$name" ]; then
    mkdir -p "$root/$name"
    mount --rbind "/$name" "$root/$name"
  fi
done
mount --bind "$2" "$root/usr/local"
exec chroot "$root" /bin/sh -c "$SSH_ORIGINAL_COMMAND"
`;

export async function startSshdHosts(
  folder: string,
  count: number,
  key = makeUserKey(folder, 'user'),
): Promise<SshdHosts> {
  mkdirSync(folder, { recursive: true });
  const enter = join(folder, 'enter');
  writeFileSync(enter, ENTER);
  const addresses = Array.from({ length: count }, (_, index) => `127.0.1.${index + 1}`);
  const root = (address: string): string => join(folder, address, 'root');
  const local = (address: string): string => join(folder, address, 'usr-local');
  const matches = addresses.flatMap((address) => [
    `Match LocalAddress ${address}`,
    `ForceCommand exec unshare ${UNSHARE.join(' ')} /bin/sh ${enter} ${root(address)} ${local(address)}`,
  ]);
  const lines = [...addresses.map((address) => `ListenAddress ${address}`), ...matches];
  reset();
  const server = await startSshServer(join(folder, 'server'), { authorized: [key.publicKey], lines });
  await eventually(
    () => Promise.resolve(server.log().split('Server listening').length > count + 1 || undefined),
    'sshd does not listen on all addresses',
  );
  return {
    key,
    port: server.target.port,
    user: server.target.user,
    hostKeys: server.hostKeys,
    addresses,
    root,
    reset,
    texts: () => [server.log(), ...addresses.flatMap((address) => textsIn(root(address)))],
    close: () => server.close(),
  };

  function reset(): void {
    for (const address of addresses) {
      rmSync(join(folder, address), { recursive: true, force: true, maxRetries: 5 });
      mkdirSync(join(root(address), 'var/lib'), { recursive: true });
      mkdirSync(local(address));
    }
  }
}

/** What is mounted in a session is not here. */
function textsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => existsSync(file) && statSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'));
}
