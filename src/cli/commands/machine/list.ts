/** `kubenode machine list`: how many machines are where, and those that need somebody. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { MACHINES } from '../../../api/generated/resources.ts';
import { machinePhases } from '../../../api/status/phase-tables.ts';
import { formatMachines, type MachineRow, machineRow, sortRows } from '../../../views/machine/list.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { collect } from '../../fleet/read.ts';
import { itemsOf, readFleet } from '../../fleet/read-fleet.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

const HELP = `
Machines that need somebody come first: stalled, unreachable and not ready ones before those in work and the Ready ones. WHY is
what a machine waits for, or the first condition that is not in its normal state. On a hub the machines of all its clusters are listed; a cluster
that does not answer is named, and the exit code is 69 then. -o json and yaml list all machines unless --limit is set.

Examples:
  kubenode machine list
  kubenode machine list --phase NotReady
  kubenode machine list --set general-nodes --selector pool=general --limit 500`;

/** Pending: no controller has observed it yet. */
const PHASES: readonly string[] = [...machinePhases.phases, 'Pending'];
const DEFAULT_LIMIT = 50;

interface ListFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly limit?: number;
  readonly phase?: string;
  readonly set?: string;
  readonly selector?: string;
}

export function createMachineListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list machines: those that need somebody first, why, and since when')
    .option('--set <name>', 'only machines with an entry of this MachineComponentSet')
    .addOption(
      new Option('--phase <phase>', `only machines in this phase: ${PHASES.join(', ')}`).argParser(
        parsePhase,
      ),
    )
    .option('-l, --selector <labels>', 'only Machines with these labels, as kubectl takes them')
    .option('--limit <n>', `at most this many (default: ${DEFAULT_LIMIT})`, createIntegerParser(1, 100_000))
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: ListFlags) => {
    const selected = flags.selector === undefined ? {} : { labelSelector: flags.selector };
    const fleet = await readFleet(io, flags, (client, signal) =>
      collect(client, MACHINES, { signal, ...selected }, machineRow),
    );
    const rows = itemsOf(fleet).filter((row) => isAsked(row, flags));
    if (flags.output === 'table') {
      const size = { limit: flags.limit ?? DEFAULT_LIMIT, columns: io.screen()?.columns ?? 80 };
      io.out(formatMachines(rows, io.clock.now(), { ...size, isFleet: fleet.isFleet }));
      return;
    }
    const machines = sortRows(rows).slice(0, flags.limit ?? rows.length);
    printResult(io, flags.output, { total: rows.length, machines }, () => ({ columns: [], rows: [] }));
  });
}

export function parsePhase(text: string): string {
  const phase = PHASES.find((each) => each.toLowerCase() === text.toLowerCase());
  if (phase !== undefined) return phase;
  throw new InvalidArgumentError(`Use one of ${PHASES.join(', ')}.`);
}

function isAsked({ phase, sets }: MachineRow, flags: Pick<ListFlags, 'phase' | 'set'>): boolean {
  const isInPhase = flags.phase === undefined || phase === flags.phase;
  return isInPhase && (flags.set === undefined || sets.includes(flags.set));
}
