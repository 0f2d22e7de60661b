/** The root file system of one node: a copy of the base with the files of this node. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from './shell.ts';

export interface Identity {
  readonly name: string;
  readonly address: string;
  readonly prefix: number;
  readonly gateway: string;
}

export async function makeRootfs(base: string, root: string, identity: Identity): Promise<void> {
  // Copy-on-write where the file system supports it.
  await run('cp', ['-a', '--reflink=auto', '--', base, root], 300_000);
  await putFile(root, 'etc/machine-id', `${randomBytes(16).toString('hex')}\n`);
  await putFile(root, 'etc/hostname', `${identity.name}\n`);
  await putFile(root, 'etc/hosts', `127.0.0.1 localhost\n${identity.address} ${identity.name}\n`);
  await putUnit(root, 'test-network.service', networkUnit(identity));
  await putUnit(root, 'test-cgroups.service', CGROUPS);
  // No timer may fire in the middle of a test.
  for (const timer of [
    'apt-daily.timer',
    'apt-daily-upgrade.timer',
    'e2scrub_all.timer',
    'dpkg-db-backup.timer',
  ]) {
    await mask(root, timer);
  }
}

export async function putFile(root: string, path: string, content: string, mode = 0o644): Promise<void> {
  const target = join(root, path);
  await mkdir(dirname(target), { recursive: true });
  await rm(target, { force: true }); // a link in the base must not point outside the node
  await writeFile(target, content);
  await chmod(target, mode);
}

/** Writes the unit and enables it. */
export async function putUnit(root: string, name: string, text: string): Promise<void> {
  await putFile(root, `etc/systemd/system/${name}`, text);
  const wants = join(root, 'etc/systemd/system/multi-user.target.wants');
  await mkdir(wants, { recursive: true });
  await symlink(`/etc/systemd/system/${name}`, join(wants, name));
}

async function mask(root: string, unit: string): Promise<void> {
  const link = join(root, 'etc/systemd/system', unit);
  await rm(link, { force: true });
  await symlink('/dev/null', link);
}

// With a writable /sys networkd leaves host0 alone, so a unit sets the address, again at each boot.
function networkUnit({ address, prefix, gateway }: Identity): string {
  return `[Unit]
Description=Address of this test node
Before=network.target containerd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/ip link set lo up
ExecStart=/usr/sbin/ip link set host0 up
ExecStart=/usr/sbin/ip address replace ${address}/${prefix} dev host0
ExecStart=/usr/sbin/ip route replace default via ${gateway}

[Install]
WantedBy=multi-user.target
`;
}

// systemd-nspawn hands the controllers of cgroup v1 in read-only. With cgroup v2 there is nothing to do.
const CGROUPS = `[Unit]
Description=Controllers of cgroup v1 for containers
Before=containerd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'for each in /sys/fs/cgroup/*/; do mountpoint -q "$each" && mount -o remount,rw,bind "$each"; done; true'

[Install]
WantedBy=multi-user.target
`;
