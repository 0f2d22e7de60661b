/** The Debian that every node is copied from, and that of images: created once for each machine, kept in the user's cache. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../../src/local/folders.ts';
import { run } from './shell.ts';

const SUITE: DebianSuite = 'bookworm';
const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'iproute2',
  'openssh-server',
  'sudo',
  'ca-certificates',
  'containerd',
  'runc',
  'iptables',
  'procps',
  'containernetworking-plugins',
  'libatomic1', // needed by the Node that npm installs
];

const MAKING_MS = 15 * 60_000;

/** The releases of Debian that a node can have, each with the version of its systemd. */
export const DEBIAN_SUITES = { bullseye: 247, bookworm: 252, trixie: 257 } as const;

export type DebianSuite = keyof typeof DEBIAN_SUITES;

export async function nodeBase(suite: DebianSuite = SUITE): Promise<string> {
  return await debianBase(suite, PACKAGES);
}

/** Path of a Debian with these packages, which nothing may change. */
export async function debianBase(suite: string, packages: readonly string[]): Promise<string> {
  const recipe = createHash('sha256')
    .update([suite, ...packages].join(' '))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(process.env), 'node-base', `${suite}-${recipe}`);
  if (existsSync(folder)) return folder;

  const making = `${folder}.${process.pid}`;
  await mkdir(dirname(folder), { recursive: true });
  process.stderr.write(`creating a Debian for the test nodes with debootstrap (about a minute): ${folder}\n`);
  try {
    const mirror = process.env['KUBENODE_DEBIAN_MIRROR'];
    const args = ['--variant=minbase', `--include=${packages.join(',')}`, suite, making];
    await run('debootstrap', mirror ? [...args, mirror] : args, MAKING_MS);
    await rm(join(making, 'var/cache/apt/archives'), { recursive: true, force: true });
    // Renamed when complete. If another run was faster, its base is used.
    await rename(making, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return folder;
}
