/**
 * A host in a directory: files below it, units as child processes. Needs no root, and changes nothing outside of the
 * directory. The processes survive the agent; the next one adopts them.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Clock } from '../../../os/clock.ts';
import { REGISTRIES_FILE } from '../../layout.ts';
import { DiskFiles } from '../disk/files.ts';
import { createRecordedOwners } from '../disk/owners.ts';
import { createHostRoot } from '../disk/root.ts';
import { downloadTo } from '../download/download.ts';
import { readOpenInodes } from '../open-inodes.ts';
import type { Host } from '../port.ts';
import { probeNetwork } from '../probe.ts';
import { run } from '../run-with-limits.ts';
import { sandboxFolders, UNIT_DIRECTORY } from './folders.ts';
import { keepLogsSmall } from './logs.ts';
import { createSandboxNode } from './node.ts';
import { createSandboxPorts } from './ports.ts';
import { SandboxSupervisor } from './supervisor.ts';
import { SandboxUnits } from './units.ts';

export interface SandboxHostOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** Called when a unit ended, was started again by the supervisor, or was edited, enabled or masked by its files. */
  readonly onUnitChange?: (unit: string) => void;
}

export interface SandboxHost extends Host {
  /** Adopts what runs. Without it this host only observes: two agents must not supervise one sandbox. */
  open(): Promise<void>;
  /** Ends the supervision. The processes go on. */
  close(): Promise<void>;
}

export function createSandboxHost({
  directory,
  clock,
  onUnitChange = () => undefined,
}: SandboxHostOptions): SandboxHost {
  const folders = sandboxFolders(resolve(directory));
  const root = createHostRoot(folders.root);
  const files = new DiskFiles(root, createRecordedOwners(folders.ownersFile));
  const supervisor = new SandboxSupervisor({ folders, clock, onChange: onUnitChange });
  const units = new SandboxUnits({ folders, files, processes: { run }, supervisor });
  const node = createSandboxNode({
    folders,
    clock,
    endAll: () => supervisor.endAll(),
    startEnabled: () => units.startEnabled(),
  });
  const ports = createSandboxPorts(folders.portsFile, seedOf(folders.root));
  const closed = new AbortController();
  let watching: AsyncDisposable | undefined;
  return {
    type: 'sandbox',
    capabilities: { systemdUnits: false, ownership: false, programs: true, limits: false },
    directory: folders.root,
    files,
    units,
    processes: {
      run,
      openInodes: () => readOpenInodes('Skip'),
      // Its programs are its units, and it mounts nothing.
      freeDirectory: async () => undefined,
    },
    node,
    network: {
      download: (url, to, limits) =>
        downloadTo(url, root.toDisk(to), limits, { clock, registriesFile: root.toDisk(REGISTRIES_FILE) }),
      probe: probeNetwork,
      assignPorts: ports.assign,
    },
    async open() {
      await node.resume();
      await units.adopt();
      watching = files.watch([UNIT_DIRECTORY], onUnitChange);
      void keepLogsSmall(folders.logDirectory, { clock, signal: closed.signal });
    },
    async close() {
      closed.abort();
      await watching?.[Symbol.asyncDispose]();
      await supervisor.close();
      await ports.release();
    },
  };
}

function seedOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
