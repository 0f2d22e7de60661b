/** `kubenode component list`: which version of each component runs where. */
import { Command } from 'commander';
import { MACHINE_COMPONENTS, MACHINES } from '../../../api/generated/resources.ts';
import { usesOf } from '../../../observability/fleet/component-uses.ts';
import { type InCluster } from '../../../views/fleet/cluster-column.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { collect } from '../../fleet/read.ts';
import { itemsOf, readFleet } from '../../fleet/read-fleet.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { type ComponentCoverage, coverageOf, knownVersion } from './coverage.ts';
import { formatCoverage } from './text.ts';

const HELP = `
DESIRED counts the machines whose spec names the version, CURRENT those whose agents report it as installed. A machine is at what is
desired when exactly this content is committed and runs. PHASE is that of the MachineComponent: Missing if it was deleted.
On a hub the components of all its clusters are listed; a cluster that does not answer is named, and the exit code is 69 then.

Examples:
  kubenode component list
  kubenode component list kubelet --selector pool=general`;

interface ListFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly selector?: string;
}

export function createComponentListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list components: on how many machines, in which versions, and which machines differ')
    .argument('[component]', 'only this component')
    .option('-l, --selector <labels>', 'only on Machines with these labels, as kubectl takes them')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string | undefined, flags: ListFlags) => {
    const selected = flags.selector === undefined ? {} : { labelSelector: flags.selector };
    const fleet = await readFleet(io, flags, async (client, signal) => {
      const uses = await collect(client, MACHINES, { signal, ...selected }, usesOf);
      const versions = await collect(client, MACHINE_COMPONENTS, { signal }, knownVersion);
      return coverageOf(uses.flat(), versions, uses.length);
    });
    const coverage = oneOrAll(itemsOf(fleet), name, fleet.isFleet ? 'the fleet' : 'this cluster');
    if (flags.output === 'table') {
      const size = { columns: io.screen()?.columns ?? COLUMNS, isFleet: fleet.isFleet };
      io.out(formatCoverage(coverage, size));
    } else printResult(io, flags.output, coverage, () => ({ columns: [], rows: [] }));
  });
}

function oneOrAll(
  coverage: readonly (ComponentCoverage & InCluster)[],
  name: string | undefined,
  place: string,
): readonly (ComponentCoverage & InCluster)[] {
  const found = coverage.filter(({ component }) => name === undefined || component === name);
  if (name === undefined || found.length > 0) return found;
  throw new CliError(`component ${name} does not exist in ${place}`, {
    hint: `use one of: ${[...new Set(coverage.map(({ component }) => component))].slice(0, 20).join(', ')}`,
    exitCode: EXIT.badInput,
  });
}
