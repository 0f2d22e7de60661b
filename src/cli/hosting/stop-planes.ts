/** Ends the hosted control planes of a local fleet, which outlive `kubenode hosting`. */
import { existsSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { planeLayout, portsFolder } from '../../controllers/hosting/drivers/process/folder.ts';
import { MEMBER_PROGRAMS } from '../../controllers/hosting/drivers/process/members.ts';
import { PLANE_FILE } from '../../controllers/hosting/drivers/process/records.ts';
import { findFleetFolder } from '../../local/fleet.ts';
import { listProcesses, usesFolder } from '../../local/processes/observe.ts';
import type { Clock } from '../../os/clock.ts';
import { stopProcess } from '../../os/process/child.ts';
import { endMachinesIn } from '../local/machines-folder.ts';
import { fleetHostingFolder } from './folder.ts';

/** Time for etcd to write what it has accepted. */
const TERM_MS = 3000;

/**
 * Stops the control planes, also after a person removed the folder of the fleet itself. Everything is kept, and `kubenode hosting`
 * starts it again, unless it is wiped with the hub that declares it.
 */
export async function stopPlanesOfFleet(
  fleet: string,
  { clock, wipe }: { readonly clock: Clock; readonly wipe: boolean },
): Promise<void> {
  const dir = fleetHostingFolder((await findFleetFolder(fleet))?.root ?? resolve(fleet));
  const clusters = join(dir, 'clusters');
  if (!existsSync(clusters)) return;
  await stopPlanes(dir, clusters, clock);
  if (wipe) await wipePlanes(dir, clusters);
}

/** Ends members before machines: controllers would start these again. */
async function stopPlanes(dir: string, clusters: string, clock: Clock): Promise<void> {
  const members = (await listProcesses()).filter((process) => usesFolder(process, clusters, MEMBER_PROGRAMS));
  await Promise.all(members.map((member) => stopProcess(member, clock, TERM_MS)));
  for (const name of await readdir(clusters)) await endMachinesIn(planeLayout(dir, name), clock);
}

/** Deletes what hosting has recorded as its own. The folder beside that of a fleet may be of somebody else: a folder with other files is kept. */
async function wipePlanes(dir: string, clusters: string): Promise<void> {
  for (const name of await readdir(clusters)) {
    const { root } = planeLayout(dir, name);
    if (existsSync(join(root, PLANE_FILE))) await rm(root, { recursive: true, force: true });
    else await rmdir(root).catch(() => undefined);
  }
  await rmdir(clusters).catch(() => undefined);
  if (existsSync(clusters)) return;
  await rm(portsFolder(dir), { recursive: true, force: true });
  await rmdir(dir).catch(() => undefined);
}
