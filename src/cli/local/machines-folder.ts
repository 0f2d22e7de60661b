/** Where the instances of a local cluster are, and how all of a fleet end. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxFolders } from '../../agent/host/sandbox/folders.ts';
import { findFleetFolder } from '../../local/fleet.ts';
import { createLayout, type Layout } from '../../local/layout.ts';
import type { Clock } from '../../os/clock.ts';
import { endLocalMachines } from '../../providers/local/end.ts';

export function machinesFolder(dir: string, cluster: string): string {
  return join(createLayout(dir).cluster(cluster).folder, 'machines');
}

const SANDBOXES = { bootFile: (hostFolder: string): string => sandboxFolders(hostFolder).bootFile };

/**
 * Machines of provider local: without their API server they are of no use, and the folders of `--wipe` are theirs. Found by their
 * folders, so that those of a fleet with a broken state file end, too.
 */
export async function endMachines(dir: string, clock: Clock): Promise<void> {
  const layout = await findFleetFolder(dir);
  if (layout) await endMachinesIn(layout, clock);
}

export async function endMachinesIn(layout: Layout, clock: Clock): Promise<void> {
  if (!existsSync(layout.clusters)) return;
  for (const name of await readdir(layout.clusters)) {
    await endLocalMachines(machinesFolder(layout.root, name), SANDBOXES, clock);
  }
}
