/** `kubenode cluster list`: the clusters whose control planes the hub hosts. */
import { Command } from 'commander';
import { CLUSTERS } from '../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../api/generated/types.ts';
import { byCode } from '../../../../kube/objects/digest.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { collect, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createOutputOption, type OutputFormat } from '../../../output.ts';
import { planeView } from './plane-view.ts';
import { printPlanes } from './print.ts';

const HELP = `
STATE is Pending, until a hosting has acted on it; Creating; Ready; NotReady, where it was ready before; Unknown, where it cannot be
observed; Stalled, where a person is needed; or Deleting. ENDS is when the time of a throw-away cluster is over. "kubenode status" lists the
clusters that the hub only syncs, too.

Examples:
  kubenode cluster list
  kubenode cluster list -o json`;

interface ListFlags extends ConnectionFlags {
  readonly output: OutputFormat;
}

export function createClusterListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list the clusters whose control planes the hub hosts')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: ListFlags) => {
    const { signal } = io;
    const found = await withCluster(io, flags, (client) =>
      collect<Cluster, ReturnType<typeof planeView>>(client, CLUSTERS, { signal }, planeView),
    );
    const views = found.flatMap((view) => view ?? []);
    printPlanes(
      io,
      flags.output,
      views.toSorted((a, b) => byCode(a.name, b.name)),
    );
  });
}
