/** The folder of hosted control planes on this machine, beside that of the local clusters. */
import { dirname, join } from 'node:path';
import { stateFolder } from '../../local/folders.ts';
import type { Io } from '../io.ts';

export function hostingFolder({ env }: Pick<Io, 'env'>): string {
  return join(dirname(stateFolder(env)), 'hosting');
}
