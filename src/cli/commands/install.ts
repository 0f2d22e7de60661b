import { Command } from 'commander';
import { type Installed, InstallRefused, install } from '../../api/install/install.ts';
import type { Client } from '../../kube/client/client.ts';
import { type ConnectionFlags, connectFrom, connectionOptions } from '../connection.ts';
import { CliError, describeError, EXIT } from '../errors.ts';
import { endWith } from '../exit.ts';
import type { Io } from '../io.ts';
import { type Format, outputOption, print } from '../output.ts';
import { type Progress, withProgress } from '../progress.ts';

const HELP = `
Installs what every part of kubenode needs: CRDs, the namespaces kubenode-system and kubenode-agents, service
accounts, roles and admission policies. It may be run again at any time: what is as it should be stays untouched.
With --dry-run the server checks everything and keeps nothing; the exit code is then 2 where there is something to do.

Examples:
  kubenode install --context prod-eu-1
  kubenode install --dry-run -o json`;

export function installCommand(io: Io): Command {
  const command = new Command('install')
    .description('install or upgrade the kinds, roles and policies in a cluster')
    .option('--dry-run', 'only say what would change')
    .addOption(outputOption())
    .addHelpText('after', HELP);
  return connectionOptions(command).action(
    async (flags: ConnectionFlags & { dryRun?: true; output: Format }) => {
      const client = await connectFrom(io, flags);
      try {
        const results = await withProgress(io, (progress) =>
          installInto(io, client, { progress, dryRun: flags.dryRun === true }),
        );
        report(io, results, { server: client.server, dryRun: flags.dryRun === true, output: flags.output });
      } finally {
        await client.close();
      }
    },
  );
}

export interface InstallFlags {
  readonly progress: Progress;
  readonly dryRun?: boolean;
}

/** For every command that needs the kinds to be there. */
export async function installInto(
  io: Io,
  client: Client,
  flags: InstallFlags,
): Promise<readonly Installed[]> {
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
      hint: 'nothing was written: mend what is named, or use the kubenode release that fits this cluster',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

/** Throws with all of them when an object could not be installed. */
export function refuseFailures(results: readonly Installed[], server: string): void {
  const failures = results.flatMap(({ error }) => error ?? []);
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} objects not installed on ${server}`);
  }
}

interface Shown {
  readonly server: string;
  readonly dryRun: boolean;
  readonly output: Format;
}

function report(io: Io, results: readonly Installed[], { server, dryRun, output }: Shown): void {
  const objects = results.map(({ object, outcome, error }) => ({
    kind: object.kind,
    name: object.metadata.name,
    outcome,
    ...(error ? { error: describeError(error).text } : {}),
  }));
  print(io, output, { server, dryRun, objects }, () => ({
    columns: ['kind', 'name', 'outcome'],
    rows: objects.map(({ kind, name, outcome }) => [kind, name, outcome]),
  }));
  const count = (wanted: Installed['outcome']): number =>
    results.filter(({ outcome }) => outcome === wanted).length;
  const changes = count('created') + count('configured');
  const verb = dryRun ? 'would change' : 'changed';
  if (output === 'table') {
    io.err(`${server}: ${changes} ${verb}, ${count('unchanged')} unchanged, ${count('failed')} failed\n`);
  }
  refuseFailures(results, server);
  if (dryRun && changes > 0) endWith(io, EXIT.changes);
}
