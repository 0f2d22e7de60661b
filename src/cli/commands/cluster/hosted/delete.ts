/** `kubenode cluster delete`: deletes a hosted Cluster of the hub. `kubenode hosting` releases its machines, then removes its control plane. */
import { Command } from 'commander';
import { CLUSTERS } from '../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../api/generated/types.ts';
import { ANNOTATION_CONFIRM_DELETE } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { DRY_RUN, patchAsPerson, type WriteFlags } from '../../../fleet/person-write.ts';
import { readNamed, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createDurationOption } from '../../../option-parsers.ts';
import { requireDeletable } from './deletable.ts';
import { waitForPlane } from './wait.ts';

const HELP = `
Its MachineSets are scaled to 0 first, each machine with a grant of the Defender of that cluster. Then its processes, its data, its keys and the
kubeconfig of sync are removed. A protected Cluster needs --confirm with its name. One that git declares is refused: remove it there.

Exit code 3: it was not deleted within --timeout; the deletion goes on.

Examples:
  kubenode cluster delete ci-17 --wait
  kubenode cluster delete prod-eu-1 --confirm prod-eu-1`;

interface DeleteFlags extends ConnectionFlags, WriteFlags {
  readonly confirm?: string;
  readonly wait?: true;
  /** In seconds. */
  readonly timeout: number;
}

export function createClusterDeleteCommand(io: Io): Command {
  const command = new Command('delete')
    .description('delete a hosted cluster: its machines, its control plane and its data')
    .argument('<hosted-cluster>', 'name of the Cluster')
    .option('--confirm <name>', 'the same name again, for a protected Cluster')
    .option('--wait', 'wait until nothing of it is left')
    .addOption(createDurationOption('--timeout <duration>', 'how long to wait', '10m'))
    .option(...DRY_RUN)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: DeleteFlags) =>
    withCluster(io, flags, (client) => deleteCluster(io, client, { name, flags })),
  );
}

interface DeleteRequest {
  readonly name: string;
  readonly flags: DeleteFlags;
}

async function deleteCluster(io: Io, client: Client, { name, flags }: DeleteRequest): Promise<void> {
  const cluster = await readNamed<Cluster>(client, CLUSTERS, name, io.signal);
  requireDeletable(cluster, flags.confirm);
  const dryRun = flags.dryRun ?? false;
  if (cluster.metadata.deletionTimestamp === undefined) {
    await confirmAndDelete(io, client, { cluster, dryRun });
  }
  if (dryRun) {
    io.out(`dry run, nothing was changed: Cluster ${name} would be deleted\n`);
    return;
  }
  if (flags.wait === true) await waitUntilDeleted(io, client, cluster, flags.timeout);
  io.out(`Cluster ${name} ${flags.wait === true ? 'was deleted' : 'is being deleted'}\n`);
}

interface Deletion {
  readonly cluster: Cluster;
  readonly dryRun: boolean;
}

/** The annotation and the deletion name what was read: a Cluster that was created again meanwhile stays. */
async function confirmAndDelete(io: Io, client: Client, { cluster, dryRun }: Deletion): Promise<void> {
  const { uid = '' } = cluster.metadata;
  if (cluster.spec.deletion.protection) {
    const annotations = { [ANNOTATION_CONFIRM_DELETE]: uid };
    await patchAsPerson({ io, client, resource: CLUSTERS, object: cluster, dryRun }, { annotations });
  }
  // The policy of the server sees no annotation that a dry run has written.
  if (dryRun && cluster.spec.deletion.protection) return;
  await client.delete(CLUSTERS, cluster.metadata, { uid, dryRun, signal: io.signal });
}

async function waitUntilDeleted(io: Io, client: Client, cluster: Cluster, seconds: number): Promise<void> {
  const { name, uid = '' } = cluster.metadata;
  const left = await waitForPlane(io, { client, name, uid, seconds }, () => false);
  if (!left) return;
  throw new CliError(`Cluster ${name} was not deleted within ${seconds} s: ${left.message}`, {
    hint: `wait on with kubenode cluster delete ${name} --wait`,
    exitCode: EXIT.unhealthy,
  });
}
