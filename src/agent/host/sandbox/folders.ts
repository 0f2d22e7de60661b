/** Names the files, beside those of the host, in which a sandbox keeps what a real host keeps in its kernel and its supervisor. */
import { join } from 'node:path/posix';

export interface SandboxFolders {
  readonly root: string;
  readonly bootFile: string;
  readonly portsFile: string;
  readonly ownersFile: string;
  readonly logDirectory: string;
  stateFile(unit: string): string;
  logFile(unit: string): string;
  exitFile(unit: string): string;
}

/** Definitions of units, as files of the host: a person may edit them, as on a real one. */
export const UNIT_DIRECTORY = '/etc/kubenode/units';

export function sandboxFolders(root: string): SandboxFolders {
  const own = join(root, '.sandbox');
  return {
    root,
    bootFile: join(own, 'boot.json'),
    portsFile: join(own, 'ports.json'),
    ownersFile: join(own, 'owners.json'),
    logDirectory: join(own, 'logs'),
    stateFile: (unit) => join(own, 'units', `${unit}.json`),
    logFile: (unit) => join(own, 'logs', `${unit}.log`),
    exitFile: (unit) => join(own, 'units', `${unit}.exit`),
  };
}
