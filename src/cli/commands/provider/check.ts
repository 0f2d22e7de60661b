/** `kubenode provider check`: whether the credentials and rights of a cloud suffice, and what is missing. It changes nothing. */
import { Argument, Command } from 'commander';
import { MACHINE_SETS } from '../../../api/generated/resources.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { instanceShapeReason } from '../../../providers/cloud/request.ts';
import type { InstanceShape, ProviderCheck } from '../../../providers/contract.ts';
import { CLOUDS, type Cloud } from '../../../providers/registry.ts';
import type { Table } from '../../../views/text/table.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { explainProviderError } from '../../providers/error.ts';
import { openCloud } from '../../providers/open-cloud.ts';

const HELP = `
Tries each right that kubenode controllers needs in this cloud, by dry runs, and changes nothing. Run it with the credentials, the
region and the endpoint of kubenode controllers: they are found as there (docs/reference/providers). With --set the creation of an
instance of that MachineSet is tried, too; without it no cluster is contacted. The rights to delete and to switch are tried on an
existing instance of kubenode.

RESULT is Allowed, Missing, Refused (the credentials are missing, wrong or expired) or Unknown (it was not tried, or the answer shows
neither). The exit code is 0 when all are Allowed, 77 when one is Missing or Refused, and 1 when the rest is Unknown.

Examples:
  kubenode provider check aws
  kubenode provider check aws --set web --context prod
  kubenode provider check alibaba -o json`;

interface CheckFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly set?: string;
}

export function createProviderCheckCommand(io: Io): Command {
  const command = new Command('check')
    .description('check the credentials and rights of a cloud, and name what is missing')
    .addArgument(new Argument('<name>', 'name of the provider').choices(CLOUDS))
    .option('--set <name>', 'also try the creation of an instance of this MachineSet')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: Cloud, flags: CheckFlags) => {
    const shape = flags.set === undefined ? undefined : await readShape(io, flags, { name, set: flags.set });
    const checks = await checkProvider(io, name, shape);
    printResult(io, flags.output, { provider: name, checks }, () => tableOf(checks));
    const exitCode = checksExitCode(checks);
    if (exitCode !== EXIT.ok) setExitCode(io, exitCode);
  });
}

/** Returns the shape of the instances of a set. */
async function readShape(
  io: Io,
  flags: ConnectionFlags,
  { name, set }: { readonly name: Cloud; readonly set: string },
): Promise<InstanceShape> {
  const found = await withCluster(io, flags, (client) => readNamed(client, MACHINE_SETS, set, io.signal));
  const { infra, host } = found.spec.template;
  if (infra.provider === name) {
    return { config: infra.config, host: host.type, ...optional('zone', found.spec.zones[0]) };
  }
  throw new CliError(`MachineSet ${set} has provider ${infra.provider}, not ${name}`, {
    exitCode: EXIT.badInput,
    hint: `name a MachineSet of provider ${name}`,
  });
}

async function checkProvider(
  io: Io,
  name: Cloud,
  shape: InstanceShape | undefined,
): Promise<readonly ProviderCheck[]> {
  try {
    const provider = await openCloud(io, name);
    const refused = shape && instanceShapeReason(provider, shape);
    if (refused !== undefined) throw new CliError(refused, { exitCode: EXIT.badInput });
    if (provider.check) return await provider.check(shape, io.signal);
  } catch (error) {
    throw explainProviderError(`provider ${name}`, error);
  }
  throw new CliError(`provider ${name} has no check`, { exitCode: EXIT.usage });
}

/** Returns the exit code: Unknown is not Allowed. */
export function checksExitCode(checks: readonly ProviderCheck[]): ExitCode {
  const isMissing = checks.some(({ result }) => result === 'Missing' || result === 'Refused');
  if (isMissing) return EXIT.denied;
  return checks.every(({ result }) => result === 'Allowed') ? EXIT.ok : EXIT.failed;
}

function tableOf(checks: readonly ProviderCheck[]): Table {
  return {
    columns: ['RIGHT', 'RESULT', 'MESSAGE'],
    rows: checks.map(({ right, result, message }) => [right, result, message]),
  };
}
