/** The folders of the clusters of a hub in which revisions are kept, and the removal of those that belong to no Cluster any more. */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type PQueue from 'p-queue';
import { byCode } from '../../../kube/objects/digest.ts';
import type { Log } from '../../../kube/process/log.ts';

/** Matches what `clusterFolder` returns: nothing else in the folder is ours. */
const OWN_NAME = /^[0-9a-f]{32}$/;

/** Returns the name of the folder of a cluster. The name of a cluster may be any DNS name, and its folder has a fixed form. */
export function clusterFolder(cluster: string): string {
  return createHash('sha256').update(cluster).digest('hex').slice(0, 32);
}

/** Removes the folders of all clusters but these. Without a folder of the hub nothing is kept. */
export async function removeOtherFolders(folder: string, clusters: readonly string[]): Promise<number> {
  const kept = new Set(clusters.map(clusterFolder));
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const others = names.filter((name) => OWN_NAME.test(name) && !kept.has(name));
  for (const name of others) await rm(join(folder, name), { recursive: true, force: true });
  return others.length;
}

export interface FolderSweepOptions {
  /** The folder of all clusters of the hub. */
  readonly folder: string;
  /** Runs one act on the folder at a time. */
  readonly queue: PQueue;
  readonly log: Log;
}

/**
 * Returns what removes the folders of clusters that the hub does not have. Nothing can return to what they ran: a Cluster that was
 * removed has no status that names it. The same names are not compared again, unless the removal failed.
 */
export function createFolderSweep({
  folder,
  queue,
  log,
}: FolderSweepOptions): (clusters: readonly string[]) => void {
  let swept: string | undefined;
  return (clusters) => {
    const key = JSON.stringify(clusters.toSorted(byCode));
    if (swept === key) return;
    swept = key;
    void queue.add(() => sweep(clusters));
  };

  async function sweep(clusters: readonly string[]): Promise<void> {
    try {
      const removed = await removeOtherFolders(folder, clusters);
      if (removed > 0) log.info('revisions of removed clusters deleted', { clusters: removed });
    } catch (error) {
      swept = undefined;
      log.warn('revisions of removed clusters not deleted', { error });
    }
  }
}
