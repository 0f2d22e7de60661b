/** Ends what runs of all instances, and keeps their folders: the provider starts them again. */
import { rm } from 'node:fs/promises';
import type { Clock } from '../../os/clock.ts';
import type { AgentPrograms } from './agents.ts';
import { instanceFolder, listUids } from './folders.ts';
import { endMarked } from './processes.ts';

/**
 * The next start is a boot, as after a power cut. Without that an agent would blame the version that it was proving for processes
 * that ended with the instance.
 */
export async function endLocalMachines(
  machines: string,
  { bootFile }: Pick<AgentPrograms, 'bootFile'>,
  clock: Clock,
): Promise<void> {
  for (const uid of await listUids(machines)) {
    const { path, hostFolder } = instanceFolder(machines, uid);
    await endMarked(path, clock);
    await rm(bootFile(hostFolder), { force: true });
  }
  await endMarked(machines, clock);
}
