/** `kubenode component list`: which version of each component runs where. */
import { Command } from 'commander';
import { MACHINE_COMPONENTS, MACHINES } from '../../../api/generated/resources.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { collect, withCluster } from '../../fleet/read.ts';
import { COLUMNS } from '../../format/wrap.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { type ComponentCoverage, coverageOf, knownVersion, usesOf } from './coverage.ts';
import { formatCoverage } from './text.ts';

const HELP = `
DESIRED counts the machines whose spec names the version, CURRENT those whose agents report it as installed. A machine is at what is
desired when exactly this content is committed and runs. PHASE is that of the MachineComponent: Missing if it was deleted.

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
  return addConnectionOptions(command).action((name: string | undefined, flags: ListFlags) =>
    withCluster(io, flags, async (client) => {
      const { signal } = io;
      const selected = { signal, ...(flags.selector && { labelSelector: flags.selector }) };
      const uses = await collect(client, MACHINES, selected, usesOf);
      const versions = await collect(client, MACHINE_COMPONENTS, { signal }, knownVersion);
      const coverage = oneOrAll(coverageOf(uses.flat(), versions, uses.length), name);
      if (flags.output === 'table') io.out(formatCoverage(coverage, io.screen()?.columns ?? COLUMNS));
      else printResult(io, flags.output, coverage, () => ({ columns: [], rows: [] }));
    }),
  );
}

function oneOrAll(
  coverage: readonly ComponentCoverage[],
  name: string | undefined,
): readonly ComponentCoverage[] {
  const found = coverage.filter(({ component }) => name === undefined || component === name);
  if (name === undefined || found.length > 0) return found;
  throw new CliError(`component ${name} does not exist in this cluster`, {
    hint: `use one of: ${coverage
      .map(({ component }) => component)
      .slice(0, 20)
      .join(', ')}`,
    exitCode: EXIT.badInput,
  });
}
