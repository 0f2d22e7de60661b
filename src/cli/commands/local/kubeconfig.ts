/** `kubenode local kubeconfig`: kubeconfigs of local clusters, for the administrator or for another user. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { createUserKubeconfig } from '../../../local/pki/access.ts';
import { createPrincipal } from '../../../local/pki/principal.ts';
import { readLocalFleet } from '../../../local/status.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { addDirOption } from '../../local/dir-option.ts';
import { withLocalErrors } from '../../local/errors.ts';

interface KubeconfigFlags {
  readonly dir: string;
  readonly merged?: true;
  readonly path?: true;
  readonly user?: string;
  readonly group?: readonly string[];
}

export function createKubeconfigCommand(io: Io): Command {
  return addDirOption(io, new Command('kubeconfig'))
    .description('print the kubeconfig of a cluster, or of all of them')
    .argument('[name]', 'name of the cluster (see `kubenode local status`)')
    .option('--merged', 'one kubeconfig with a context for each cluster')
    .option('--path', 'print the path of the file instead of its content')
    .option(
      '--user <principal>',
      'create it for this user instead of the administrator: kubenode-sync, kubenode:agent:m-1, jane',
    )
    .option('--group <name...>', 'additional groups of that user')
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
  throwIfContradictory(name, flags);
  const found = await readLocalFleet(flags.dir);
  if (!found) throw createNoFleetError(flags.dir);
  const { state, layout } = found;
  if (name === undefined) return await contentOrPath(layout.kubeconfig, flags);
  const cluster = state.clusters.find((candidate) => candidate.name === name);
  if (!cluster) throw createUnknownClusterError(name, state.clusters);
  if (flags.user === undefined) return await contentOrPath(layout.cluster(name).kubeconfig, flags);
  return await createUserKubeconfig(
    cluster,
    layout,
    createPrincipal(flags.user, flags.group),
    io.clock.now(),
  );
}

async function contentOrPath(file: string, { path }: KubeconfigFlags): Promise<string> {
  return path ? `${file}\n` : await readFile(file, 'utf8');
}

function throwIfContradictory(
  name: string | undefined,
  { merged, path, user, group }: KubeconfigFlags,
): void {
  const contradiction = [
    { when: name === undefined && !merged, text: 'no cluster specified: pass a name or --merged' },
    { when: name !== undefined && merged === true, text: '--merged includes all clusters: omit the name' },
    {
      when: user !== undefined && merged === true,
      text: '--user requires the name of one cluster: omit --merged',
    },
    {
      when: user !== undefined && path === true,
      text: 'the kubeconfig of --user is not stored in a file: omit --path',
    },
    { when: group !== undefined && user === undefined, text: '--group requires --user' },
  ].find(({ when }) => when);
  if (!contradiction) return;
  throw new CliError(contradiction.text, {
    exitCode: EXIT.usage,
    hint: 'see kubenode local kubeconfig --help',
  });
}

function createNoFleetError(dir: string): CliError {
  return new CliError('no local clusters found', {
    where: dir,
    hint: 'start them with: kubenode local up',
    exitCode: EXIT.badInput,
  });
}

function createUnknownClusterError(name: string, clusters: readonly { readonly name: string }[]): CliError {
  return new CliError(`local cluster ${name} not found`, {
    hint: `use one of: ${clusters.map((cluster) => cluster.name).join(', ')}; or add clusters with: kubenode local up --clusters N`,
    exitCode: EXIT.badInput,
  });
}
