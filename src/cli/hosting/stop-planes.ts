/** Ends what `kubenode hosting` left running in a folder: control planes outlive it. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { planeLayout } from '../../controllers/hosting/drivers/process/folder.ts';
import { MEMBER_PROGRAMS } from '../../controllers/hosting/drivers/process/members.ts';
import { listProcesses, usesFolder } from '../../local/processes/observe.ts';
import type { Clock } from '../../os/clock.ts';
import { stopProcess } from '../../os/process/child.ts';
import { endMachinesIn } from '../local/machines-folder.ts';

/** Time to write what etcd has not written yet. */
const TERM_MS = 3000;

/** Ends members before machines: controllers would start these again. Everything is kept, and `kubenode hosting` starts it again. */
export async function stopPlanes(dir: string, clock: Clock): Promise<void> {
  const clusters = join(dir, 'clusters');
  if (!existsSync(clusters)) return;
  const members = (await listProcesses()).filter((process) => usesFolder(process, clusters, MEMBER_PROGRAMS));
  await Promise.all(members.map((member) => stopProcess(member, clock, TERM_MS)));
  for (const name of await readdir(clusters)) await endMachinesIn(planeLayout(dir, name), clock);
}
