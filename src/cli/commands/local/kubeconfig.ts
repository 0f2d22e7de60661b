/** `kubenode local kubeconfig`: ways into local clusters, for the administrator or for anybody else. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { kubeconfigFor } from '../../../local/pki/access.ts';
import { principalNamed } from '../../../local/pki/principal.ts';
import { requireState } from '../../../local/status.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { withLocalErrors } from './errors.ts';
import { withDir } from './folder.ts';

interface KubeconfigFlags {
  readonly dir: string;
  readonly merged?: true;
  readonly path?: true;
  readonly user?: string;
  readonly group?: readonly string[];
}

export function kubeconfigCommand(io: Io): Command {
  return withDir(io, new Command('kubeconfig'))
    .description('print the kubeconfig of a cluster, or of all of them')
    .argument('[name]', 'cluster, as in `kubenode local status`')
    .option('--merged', 'one with a context for each cluster')
    .option('--path', 'print where the file lies instead of its content')
    .option(
      '--user <principal>',
      'for another user than the administrator: kubenode-sync, kubenode:agent:m-1, jane',
    )
    .option('--group <name...>', 'more groups of that user')
    .addHelpText(
      'after',
      `
Examples:
  kubenode local kubeconfig hub > hub.kubeconfig
  kubenode local kubeconfig test --user kubenode-sync
  export KUBECONFIG=$(kubenode local kubeconfig --merged --path)`,
    )
    .action((name: string | undefined, flags: KubeconfigFlags) =>
      withLocalErrors(async () => io.out(await kubeconfigText(io, name, flags))),
    );
}

async function kubeconfigText(io: Io, name: string | undefined, flags: KubeconfigFlags): Promise<string> {
  refuseContradictions(name, flags);
  const found = await requireState(flags.dir);
  if (!found) throw noFleet(flags.dir);
  const { state, layout } = found;
  if (name === undefined) return await fileOrPath(layout.kubeconfig, flags);
  const cluster = state.clusters.find((candidate) => candidate.name === name);
  if (!cluster) throw unknownCluster(name, state.clusters);
  if (flags.user === undefined) return await fileOrPath(layout.cluster(name).kubeconfig, flags);
  return await kubeconfigFor(cluster, layout, principalNamed(flags.user, flags.group), io.clock.now());
}

async function fileOrPath(file: string, { path }: KubeconfigFlags): Promise<string> {
  return path
    ? `${file}
`
    : await readFile(file, 'utf8');
}

function refuseContradictions(
  name: string | undefined,
  { merged, path, user, group }: KubeconfigFlags,
): void {
  const objection = [
    { when: name === undefined && !merged, text: 'name a cluster, or say --merged' },
    { when: name !== undefined && merged === true, text: '--merged is for all clusters: leave out the name' },
    { when: user !== undefined && merged === true, text: '--user needs one cluster: name it' },
    {
      when: user !== undefined && path === true,
      text: 'a kubeconfig of --user is printed and kept nowhere: leave out --path',
    },
    { when: group !== undefined && user === undefined, text: '--group goes with --user' },
  ].find(({ when }) => when);
  if (!objection) return;
  throw new CliError(objection.text, { exitCode: EXIT.usage, hint: 'kubenode local kubeconfig --help' });
}

function noFleet(dir: string): CliError {
  return new CliError('there are no local clusters', {
    where: dir,
    hint: 'start them with: kubenode local up',
    exitCode: EXIT.badInput,
  });
}

function unknownCluster(name: string, clusters: readonly { readonly name: string }[]): CliError {
  return new CliError(`there is no local cluster ${name}`, {
    where: `there are: ${clusters.map((cluster) => cluster.name).join(', ')}`,
    hint: 'name one of them, or add clusters with: kubenode local up --clusters N',
    exitCode: EXIT.badInput,
  });
}
