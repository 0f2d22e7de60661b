/** `kubenode maintenance list`: one line for each announced maintenance. */
import { Command } from 'commander';
import { MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import { formatMaintenance } from '../../../views/maintenance/show.ts';
import { type MaintenanceView, sortMaintenance, viewMaintenance } from '../../../views/maintenance/view.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { collect, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

const HELP = `
Events that are not over come first, the earliest first; then those that are, the newest first. WHY is what an event waits for.
-o json and yaml list all events unless --limit is set. docs/guides/maintenance.md shows how to announce one.

Examples:
  kubenode maintenance list
  kubenode maintenance list --machine node-a17
  kubenode maintenance list --phase Preparing -o json`;

const DEFAULT_LIMIT = 50;

interface ListFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly limit?: number;
  readonly machine?: string;
  readonly phase?: string;
}

export function createMaintenanceListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list announced maintenance: machine, type, state, phase, and what each event waits for')
    .option('--machine <name>', 'only events of this Machine')
    .option('--phase <phase>', 'only events in this phase')
    .option('--limit <n>', `at most this many (default: ${DEFAULT_LIMIT})`, createIntegerParser(1, 100_000))
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((flags: ListFlags) =>
    withCluster(io, flags, async (client) => {
      const all = await collect(client, MAINTENANCE_EVENTS, { signal: io.signal }, viewMaintenance);
      const views = all.filter((view) => isAsked(view, flags));
      if (flags.output === 'table') {
        const size = { limit: flags.limit ?? DEFAULT_LIMIT, columns: io.screen()?.columns ?? COLUMNS };
        io.out(formatMaintenance(views, io.clock.now(), size));
        return;
      }
      const events = sortMaintenance(views).slice(0, flags.limit ?? views.length);
      printResult(io, flags.output, { total: views.length, events }, () => ({ columns: [], rows: [] }));
    }),
  );
}

function isAsked(view: MaintenanceView, { machine, phase }: ListFlags): boolean {
  if ((machine ?? view.machine) !== view.machine) return false;
  return phase === undefined || view.phase.toLowerCase() === phase.toLowerCase();
}
