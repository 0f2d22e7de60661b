/** The files that processes of this machine hold open, whatever path they know them by: a container sees other paths. */
import { readdir, stat } from 'node:fs/promises';
import { systemCode } from '../../os/errors.ts';
import { listPids } from '../../os/process/table.ts';
import { inodeOf } from './disk/inode.ts';
import { HostError } from './errors.ts';

/** `Fail`: a process that cannot be read means that the open files are not known. `Skip`: it belongs to somebody else. */
export async function readOpenInodes(unreadable: 'Fail' | 'Skip'): Promise<ReadonlySet<string>> {
  const inodes = new Set<string>();
  for (const pid of await listPids()) {
    for (const inode of await inodesOf(pid, unreadable)) inodes.add(inode);
  }
  return inodes;
}

async function inodesOf(pid: number, unreadable: 'Fail' | 'Skip'): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch((error: unknown) => {
    const code = systemCode(error) ?? '';
    if (unreadable === 'Skip' || ['ENOENT', 'ESRCH'].includes(code)) return [];
    throw new HostError('NoAccess', `the open files of process ${pid} cannot be read (${code})`, {
      where: folder,
      cause: error,
    });
  });
  const found: string[] = [];
  for (const descriptor of descriptors) {
    const stats = await stat(`${folder}/${descriptor}`, { bigint: true }).catch(() => undefined);
    if (stats) found.push(inodeOf(stats));
  }
  return found;
}
