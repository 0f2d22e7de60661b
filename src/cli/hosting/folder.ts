/** The folder of hosted control planes on this machine, beside that of the local clusters. */
import { dirname, join } from 'node:path';
import { stateFolder } from '../../local/folders.ts';
import type { Io } from '../io.ts';

/** Returns the folder of the control planes that belong to the hub of a local fleet: beside the fleet, which ends every process in its own. */
export function fleetHostingFolder(fleet: string): string {
  return `${fleet}-hosting`;
}

export function hostingFolder({ env }: Pick<Io, 'env'>): string {
  return join(dirname(stateFolder(env)), 'hosting');
}
