/** The file systems of a host, by the names that rules and steps use. */
import type { DiskUsage, HostFiles } from '../host/port.ts';
import type { JobsConfig } from '../jobs/config.ts';

/** Finds a file system by its name. Undefined if no directory of it exists. */
export async function findFilesystem(
  files: Pick<HostFiles, 'stat' | 'usage'>,
  filesystems: JobsConfig['filesystems'],
  name: string,
): Promise<DiskUsage | undefined> {
  for (const directory of filesystems[name] ?? []) {
    if (await files.stat(directory)) return await files.usage(directory);
  }
  return undefined;
}

/** Returns the used part as df shows it: what is reserved for root counts as used, and a fraction counts as a whole percent. */
export function usedPercent({ usedBytes, freeBytes }: Pick<DiskUsage, 'usedBytes' | 'freeBytes'>): number {
  return percentOf(usedBytes, freeBytes) ?? 0;
}

/** Returns the used part of the inodes. Undefined on a file system without a fixed number of them. */
export function inodesUsedPercent(usage: Pick<DiskUsage, 'usedInodes' | 'freeInodes'>): number | undefined {
  return percentOf(usage.usedInodes, usage.freeInodes);
}

function percentOf(used: number, free: number): number | undefined {
  return used + free > 0 ? Math.ceil((used / (used + free)) * 100) : undefined;
}
