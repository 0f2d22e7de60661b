/** A real machine with systemd: the root file system, units through systemctl, processes through /proc. Needs root. */
import type { Clock } from '../../../os/clock.ts';
import { REGISTRIES_FILE } from '../../layout.ts';
import { DiskFiles } from '../disk/files.ts';
import { createAccountOwners } from '../disk/owners.ts';
import { createHostRoot } from '../disk/root.ts';
import { downloadTo } from '../download/download.ts';
import { readOpenInodes } from '../open-inodes.ts';
import type { Host } from '../port.ts';
import { probeNetwork } from '../probe.ts';
import { runCommand } from './commands.ts';
import { freeDirectory } from './directory/free.ts';
import { createSystemdNode } from './node.ts';
import { createScopeRunner } from './run/scope.ts';
import { createServiceRunner } from './run/service.ts';
import { createUnitProcessReader } from './unit-process.ts';
import { UnitReader } from './unit-reader.ts';
import { UnitWatch } from './unit-watch.ts';
import { SystemdUnits } from './units.ts';

export interface SystemdHostOptions {
  readonly clock: Clock;
  /** Called when a process of a unit ended, or a file of a unit changed. */
  readonly onUnitChange?: (unit: string) => void;
  /** Ends the wait for a reboot. */
  readonly signal?: AbortSignal;
}

export interface SystemdHost extends Host {
  /** Begins to notice changes of units. */
  open(): Promise<void>;
  close(): Promise<void>;
}

export function createSystemdHost({ clock, onUnitChange, signal }: SystemdHostOptions): SystemdHost {
  const root = createHostRoot('/');
  const files = new DiskFiles(root, createAccountOwners(root));
  const watch = new UnitWatch(clock, onUnitChange ?? (() => undefined));
  const readProcess = createUnitProcessReader();
  const units = new SystemdUnits({
    files,
    run: runCommand,
    reader: new UnitReader(runCommand, clock),
    async processOf(unit, found) {
      const process = await readProcess(unit, found);
      watch.observed(unit.name, process);
      return process;
    },
  });
  const runInScope = createScopeRunner(runCommand);
  const services = createServiceRunner(files, runCommand);
  return {
    type: 'systemd',
    capabilities: { systemdUnits: true, ownership: true, programs: true, limits: true },
    directory: '/',
    files,
    units,
    processes: {
      run: (argv, limits) => (limits.rights ? services.run(argv, limits) : runInScope(argv, limits)),
      openInodes: () => readOpenInodes('Fail'),
      freeDirectory: (directory) => freeDirectory(directory, { run: runCommand, clock }),
    },
    node: createSystemdNode({ run: runCommand, clock, ...(signal && { signal }) }),
    network: {
      download: (url, to, limits) =>
        downloadTo(url, root.toDisk(to), limits, { clock, registriesFile: root.toDisk(REGISTRIES_FILE) }),
      probe: probeNetwork,
      // The machine is all ours: a component gets the ports that it declares.
      assignPorts: async (_component, ports) => new Map(ports.map(({ name, port }) => [name, port])),
    },
    async open() {
      await services.open();
      watch.open(files);
    },
    close: async () => watch.close(),
  };
}
