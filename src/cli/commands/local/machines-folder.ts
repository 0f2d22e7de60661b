/** Where the instances of a local cluster are, and how all of a fleet end. */
import { join } from 'node:path';
import { findFleetFolder } from '../../../local/fleet.ts';
import { createLayout } from '../../../local/layout.ts';
import { readState } from '../../../local/state.ts';
import type { Clock } from '../../../os/clock.ts';
import { endLocalMachines } from '../../../providers/local/end.ts';

export function machinesFolder(dir: string, cluster: string): string {
  return join(createLayout(dir).cluster(cluster).folder, 'machines');
}

/** Machines of provider local: without their API server they are of no use, and the folders of `--wipe` are theirs. */
export async function endMachines(dir: string, clock: Clock): Promise<void> {
  const layout = await findFleetFolder(dir);
  const state = layout && (await readState(layout.stateFile).catch(() => undefined));
  for (const { name } of state?.clusters ?? []) {
    await endLocalMachines(machinesFolder(layout?.root ?? dir, name), clock);
  }
}
