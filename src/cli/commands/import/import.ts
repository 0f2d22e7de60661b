/** `kubenode import`: checks hosts over SSH, without changing them, and prints or applies their Machines with pinned keys. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { optional } from '../../../kube/objects/optional.ts';
import { messageOf } from '../../../os/errors.ts';
import { formatJson } from '../../../views/text/json.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { formatYaml } from '../../../views/text/yaml.ts';
import { CliError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { printResult, printWarnings } from '../../output.ts';
import { applyImport, createImportSecret } from './apply/apply.ts';
import { readImportCluster } from './cluster.ts';
import type { ListedHost } from './hosts/host.ts';
import { selectHosts } from './hosts/select.ts';
import { inspectAll } from './inspect-all.ts';
import { addImportOptions, checkFlags, type ImportFlags } from './options.ts';
import { importExitCode } from './report/exit-code.ts';
import { type ImportedMachine, makeMachines } from './report/machines.ts';
import { type HostReport, judgeHosts } from './report/report.ts';
import { formatReports, formatSummary } from './report/text.ts';
import { formatMachineModule } from './report/typescript.ts';
import { type ImportSecrets, readSecrets } from './secrets.ts';

const HELP = `
Reads the keys of each host, and runs read-only checks on it. With --dry-run it prints the report: the keys, and for each check what was
found and what to do. Without it, it prints a Machine for each host that fails no check, with its keys pinned, to be committed: TypeScript
for fleet/hosts.ts, or YAML with -o yaml. A host is [user@]address[:port].

With --apply it applies these Machines instead, and follows them until each is Ready or needs a person. The controllers do the import, with
the key in the Secret of --secret: create it before, or add --create-secret, with or without --apply, which makes it of --identity and the
files of passwords. The command may be interrupted and repeated: it changes only Machines that it made.

Exit codes: 0 no check failed, and with --apply all are Ready; 3 a check or an import failed, or --wait is over; 69 a host could not be
checked; 77 a host refuses the key or has another key than the pinned one; 64 and 65 for options and hosts that are invalid.

Examples:
  kubenode import 10.4.7.3 10.4.7.4 --user admin --dry-run
  kubenode import --from hosts.yaml --identity ~/.ssh/fleet --create-secret > fleet/hosts.ts
  kubenode import --from hosts.yaml --identity ~/.ssh/fleet --label pool=storage --apply --create-secret
  kubenode import admin@n1.example.com:2222 --via jump@bastion.example.com --dry-run -o json`;

export function createImportCommand(io: Io): Command {
  const command = new Command('import')
    .description('check hosts over SSH, and print or apply their Machines with pinned host keys')
    .argument('[host...]', 'hosts, as [user@]address[:port]')
    .addHelpText('after', HELP);
  return addImportOptions(command).action(async (args: string[], flags: ImportFlags) => {
    checkFlags(args, flags);
    const hosts = selectHosts({
      args,
      ...(flags.from !== undefined && { file: { path: flags.from, text: await readHosts(io, flags.from) } }),
      defaults: { port: flags.port, user: flags.user },
      ...optional('via', flags.via),
      ...optional('labels', flags.label),
    });
    const secrets = await readSecrets(io, flags);
    refusePasswordForUnknownHosts(hosts, secrets);
    const { machines: known, server } = await readImportCluster(io, flags);
    const timeoutMs = flags.timeout * 1000;
    const outcomes = await inspectAll(io, { hosts, secrets, timeoutMs, ...optional('server', server) });
    const skipped = flags.skipCheck ?? [];
    const reports = judgeHosts(outcomes, { skipped, machines: known, ...optional('server', server) });
    setExitCode(io, importExitCode(reports));
    if (flags.dryRun) printReports(io, reports, flags);
    else await useMachines(io, { hosts, reports, skipped, flags, secrets });
  });
}

async function readHosts(io: Io, file: string): Promise<string> {
  try {
    return await readFile(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new CliError(`the file cannot be read: ${messageOf(error)}`, {
      where: file,
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

/** A signature is of no use to a server in between, a password is. */
function refusePasswordForUnknownHosts(hosts: readonly ListedHost[], { sudoPassword }: ImportSecrets): void {
  const unpinned = hosts.find(({ hostKeys }) => hostKeys === undefined);
  if (sudoPassword === undefined || unpinned === undefined) return;
  throw new CliError('a password is sent only to a host whose key is pinned', {
    where: unpinned.target.address,
    hint: 'run it with --dry-run and without the password to see the keys, and put them into hostKeys in --from',
    exitCode: EXIT.badInput,
  });
}

function printReports(io: Io, reports: readonly HostReport[], { output = 'table' }: ImportFlags): void {
  if (output === 'json' || output === 'yaml') {
    printResult(io, output, { hosts: reports }, () => ({ columns: [], rows: [] }));
    return;
  }
  io.out(formatReports(reports, { columns: io.screen()?.columns ?? COLUMNS, isFull: reports.length === 1 }));
}

interface Printing {
  readonly hosts: readonly ListedHost[];
  readonly reports: readonly HostReport[];
  readonly skipped: readonly string[];
  readonly flags: ImportFlags;
  readonly secrets: ImportSecrets;
}

async function useMachines(io: Io, { hosts, reports, skipped, flags, secrets }: Printing): Promise<void> {
  const { machines, problems } = makeMachines(hosts, reports, { secret: flags.secret, skipped });
  const refused = reports.filter(({ state }) => state === 'Fail' || state === 'Error');
  if (refused.length > 0) {
    io.err(`${formatReports(refused, { columns: io.screen()?.columns ?? COLUMNS, isFull: false })}\n`);
  }
  io.err(formatSummary(reports));
  printWarnings(io, [...problems, ...warningsFor(reports)]);
  const code = problems.length > 0 ? EXIT.badInput : importExitCode(reports);
  setExitCode(io, code);
  if (flags.apply) {
    const named = new Map(reports.map(({ host, name = '' }) => [name, host]));
    await applyImport(io, { machines, hosts: named, secrets, flags, preflightCode: code });
    return;
  }
  if (flags.createSecret) await createImportSecret(io, { machines, secrets, flags });
  if (machines.length > 0) io.out(formatMachines(machines, flags.output));
}

function formatMachines(machines: readonly ImportedMachine[], output: ImportFlags['output']): string {
  if (output === 'yaml') return machines.map((machine) => formatYaml(machine)).join('---\n');
  if (output === 'json') return formatJson({ apiVersion: 'v1', kind: 'List', items: machines });
  return formatMachineModule(machines);
}

function warningsFor(reports: readonly HostReport[]): readonly string[] {
  const isUnpinned = reports.some(({ hostKeysPinned, state }) => !hostKeysPinned && state !== 'Error');
  return isUnpinned
    ? [
        'the keys are those that the hosts have shown: compare the fingerprints before you commit or apply them',
      ]
    : [];
}
