/**
 * systemd-nspawn keeps its state under /run and refuses to clean up where that is a disk: it gets a tmpfs there, as on
 * any machine with systemd.
 */
import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { isStale } from './marks.ts';
import { run } from './shell.ts';

const PLACE = '/run/systemd/nspawn';
const OURS = 'kubenode-test';

export async function mountNspawnState(): Promise<void> {
  const mounts = await listMounts();
  if (mounts.some(({ target, type }) => ['/run', PLACE].includes(target) && type === 'tmpfs')) return;
  await mkdir(PLACE, { recursive: true });
  await run('mount', ['-t', 'tmpfs', OURS, PLACE]);
}

/** Only our own mount, and only when no machine uses it: another run may have started meanwhile. */
export async function unmountNspawnState(): Promise<void> {
  const mount = (await listMounts()).find(({ target }) => target === PLACE);
  if (mount?.source !== OURS) return;
  const machines = await readdir(`${PLACE}/propagate`).catch(() => []);
  // A killed run leaves its machines here.
  if (machines.some((name) => !isStale(name))) return;
  await run('umount', [PLACE]);
  await rmdir(PLACE).catch(() => undefined);
}

async function listMounts(): Promise<{ source: string; target: string; type: string }[]> {
  const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  return lines.map((line) => {
    const [source = '', target = '', type = ''] = line.split(' ');
    return { source, target, type };
  });
}
