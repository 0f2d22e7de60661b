import { Command } from 'commander';
import { type InstalledObject, InstallRefused, install } from '../../../api/install/install.ts';
import type { Client } from '../../../kube/client/client.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { CliError, describeError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { type StepProgress, withProgress } from '../../progress.ts';

const HELP = `
Installs what every part of kubenode needs: CRDs, the namespaces kubenode-system and kubenode-agents, ServiceAccounts,
roles and admission policies. It can be run again at any time: objects that are up to date are not written.
With --dry-run the server validates everything and stores nothing; the exit code is 2 if there are changes.

Examples:
  kubenode install --context prod-eu-1
  kubenode install --dry-run -o json`;

export function createInstallCommand(io: Io): Command {
  const command = new Command('install')
    .description('install or upgrade the kinds, roles and policies of kubenode in a cluster')
    .option('--dry-run', 'only print what would change')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(
    async (flags: ConnectionFlags & { dryRun?: true; output: OutputFormat }) => {
      const client = await connectFrom(io, flags);
      try {
        const results = await withProgress(io, (progress) =>
          installInto(io, client, { progress, dryRun: flags.dryRun === true }),
        );
        showResults(io, results, {
          server: client.server,
          dryRun: flags.dryRun === true,
          output: flags.output,
        });
      } finally {
        await client.close();
      }
    },
  );
}

export interface InstallFlags {
  readonly progress: StepProgress;
  readonly dryRun?: boolean;
}

/** For every command that needs the installed kinds. */
export async function installInto(
  io: Io,
  client: Client,
  flags: InstallFlags,
): Promise<readonly InstalledObject[]> {
  try {
    return await install(client, {
      clock: io.clock,
      signal: io.signal,
      dryRun: flags.dryRun ?? false,
      progress: ({ object }, done, total) => {
        flags.progress.step(
          `installing ${object.kind} ${object.metadata.name} (${done} of ${total}) on ${client.server}`,
        );
      },
    });
  } catch (error) {
    if (!(error instanceof InstallRefused)) throw error;
    throw new CliError(error.message, {
      where: client.server,
      hint: 'nothing was written. Fix the problem, or use the kubenode version that fits this cluster',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

/** Throws one error with every object that could not be installed. */
export function throwIfInstallFailed(results: readonly InstalledObject[], server: string): void {
  const failures = results.flatMap(({ error }) => error ?? []);
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} objects could not be installed on ${server}`);
  }
}

interface ShowOptions {
  readonly server: string;
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

function showResults(
  io: Io,
  results: readonly InstalledObject[],
  { server, dryRun, output }: ShowOptions,
): void {
  const objects = results.map(({ object, outcome, error }) => ({
    kind: object.kind,
    name: object.metadata.name,
    outcome,
    ...(error ? { error: describeError(error).text } : {}),
  }));
  printResult(io, output, { server, dryRun, objects }, () => ({
    columns: ['kind', 'name', 'outcome'],
    rows: objects.map(({ kind, name, outcome }) => [kind, name, outcome]),
  }));
  const count = (expected: InstalledObject['outcome']): number =>
    results.filter(({ outcome }) => outcome === expected).length;
  const changes = count('created') + count('configured');
  const verb = dryRun ? 'would change' : 'changed';
  if (output === 'table') {
    io.err(`${server}: ${changes} ${verb}, ${count('unchanged')} unchanged, ${count('failed')} failed\n`);
  }
  throwIfInstallFailed(results, server);
  if (dryRun && changes > 0) setExitCode(io, EXIT.changes);
}
