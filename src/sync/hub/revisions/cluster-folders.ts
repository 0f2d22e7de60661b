/** The folders of the clusters of a hub in which revisions are kept, and the removal of those that belong to no Cluster any more. */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
