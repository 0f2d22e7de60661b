/** Ends what runs of all instances, and keeps their folders: the provider starts them again. */
import type { Clock } from '../../os/clock.ts';
import { instanceFolder, listUids } from './folders.ts';
import { endMarked } from './processes.ts';

export async function endLocalMachines(machines: string, clock: Clock): Promise<void> {
  for (const uid of await listUids(machines)) await endMarked(instanceFolder(machines, uid).path, clock);
  await endMarked(machines, clock);
}
