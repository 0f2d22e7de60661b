/** Removes the folder of a control plane, and refuses while a member runs. */
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses, usesFolder } from '../../../../local/processes/observe.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import { HostingError } from '../../errors.ts';
import type { PlaneOwner } from '../driver.ts';
import { portsFolder, readPlane, requireOwn } from './folder.ts';
import { MEMBER_PROGRAMS } from './members.ts';
import { releaseClaims } from './preparation/port-claims.ts';
import { PLANE_FILE } from './records.ts';

export interface RemoveParts {
  readonly dir: string;
  /** Ends the machines that the controllers of a control plane created below its folder. */
  readonly endMachines: (root: string) => Promise<void>;
}

/** The record comes last: without it the owner of the folder is not known. */
export async function removePlane(plane: PlaneOwner, { dir, endMachines }: RemoveParts): Promise<void> {
  const found = await readPlane(dir, plane);
  const { root } = found.layout;
  if (found.claim === 'None') {
    await rm(root, { recursive: true, force: true });
    return;
  }
  requireOwn(found);
  await endMachines(root);
  const running = (await listProcesses()).filter((process) => usesFolder(process, root, MEMBER_PROGRAMS));
  if (running.length > 0) throw stillRunning(root, running);
  for (const name of (await readdir(root)).filter((each) => each !== PLANE_FILE)) {
    await rm(join(root, name), { recursive: true, force: true });
  }
  await releaseClaims(portsFolder(dir), plane.name);
  await rm(join(root, PLANE_FILE), { force: true });
  await rmdir(root);
}

function stillRunning(root: string, running: readonly ProcessIdentity[]): HostingError {
  const pids = running.map(({ pid }) => pid).join(', ');
  return new HostingError('NotStopped', `processes still use ${root}: ${pids}`, {
    where: root,
    hint: 'stop what was started by hand with kill; hosting stops its own processes',
  });
}
