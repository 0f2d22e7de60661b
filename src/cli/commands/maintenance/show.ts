/** `kubenode maintenance show`: one announced maintenance, when its machine is prepared, and what it waits for. */
import { Command } from 'commander';
import { MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import { formatMaintenanceEvent } from '../../../views/maintenance/show.ts';
import { viewMaintenance } from '../../../views/maintenance/view.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

export function createMaintenanceShowCommand(io: Io): Command {
  const command = new Command('show')
    .description(
      'show announced maintenance: when the machine is prepared, by which job, and what it waits for',
    )
    .argument('<event>', 'name of the MaintenanceEvent')
    .addOption(createOutputOption())
    .addHelpText('after', '\nThe job that prepares the machine: kubenode remedy show JOB');
  return addConnectionOptions(command).action(
    (name: string, flags: ConnectionFlags & { readonly output: OutputFormat }) =>
      withCluster(io, flags, async (client) => {
        const view = viewMaintenance(await readNamed(client, MAINTENANCE_EVENTS, name, io.signal));
        if (flags.output === 'table') {
          io.out(formatMaintenanceEvent(view, io.clock.now(), io.screen()?.columns ?? COLUMNS));
        } else printResult(io, flags.output, view, () => ({ columns: [], rows: [] }));
      }),
  );
}
