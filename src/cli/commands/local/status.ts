import { Command } from 'commander';
import { type LocalFleetStatus, readLocalFleetStatus } from '../../../local/status.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult, type Table } from '../../output.ts';
import { addDirOption } from './dir-option.ts';
import { withLocalErrors } from './errors.ts';

interface StatusFlags {
  readonly dir: string;
  readonly output: OutputFormat;
}

export function createLocalStatusCommand(io: Io): Command {
  return addDirOption(io, new Command('status'))
    .description('show the clusters and their processes; exits with 1 unless all are ready')
    .addOption(createOutputOption())
    .action((flags: StatusFlags) => withLocalErrors(() => showLocalStatus(io, flags)));
}

export async function showLocalStatus(io: Io, flags: StatusFlags): Promise<void> {
  const status = (await readLocalFleetStatus(flags.dir, io.clock.now())) ?? {
    folder: flags.dir,
    clusters: [],
  };
  printResult(io, flags.output, status, () => createTable(status));
  const ready = status.clusters.length > 0 && status.clusters.every(({ state }) => state === 'Ready');
  if (!ready) setExitCode(io, EXIT.failed);
}

function createTable({ folder, clusters }: Pick<LocalFleetStatus, 'folder' | 'clusters'>): Table {
  return {
    columns: ['name', 'state', 'server', 'processes', 'because'],
    rows: clusters.map(({ name, state, server, processes, because }) => {
      const ready = processes.filter((process) => process.state === 'Ready').length;
      return [name, state, server, `${ready}/${processes.length}`, because];
    }),
    empty: `no local clusters in ${folder}; start them with: kubenode local up`,
  };
}
