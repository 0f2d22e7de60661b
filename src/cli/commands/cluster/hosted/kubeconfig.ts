/** `kubenode cluster kubeconfig`: prints the kubeconfig of the administrator of a hosted cluster, on the machine that hosts it. */
import { hostname } from 'node:os';
import { Command } from 'commander';
import { CLUSTERS } from '../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../api/generated/types.ts';
import { GATEWAYS, type PlaneAccess } from '../../../../controllers/hosting/drivers/driver.ts';
import { readAccess } from '../../../../controllers/hosting/drivers/process/access.ts';
import { readPlane, requireOwn } from '../../../../controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { readNamed, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createDurationOption } from '../../../option-parsers.ts';
import { localFolder } from './location.ts';
import { deletedMeanwhile, isSettled, waitForPlane } from './wait.ts';

const HELP = `
The command runs on the machine that hosts the control plane, as the user of "kubenode hosting". With spec.hosted.exposure.host it prints a
kubeconfig that works on other machines, too. --path prints the path of the file for this machine, which follows renewed certificates.

Exit code 3: with --wait, it is not ready.

Examples:
  export KUBECONFIG=$(kubenode cluster kubeconfig ci-17 --wait --path)
  kubenode cluster kubeconfig ci-17 > ci-17.kubeconfig`;

interface KubeconfigFlags extends ConnectionFlags {
  readonly path?: true;
  readonly wait?: true;
  /** In seconds. */
  readonly timeout: number;
}

export function createClusterKubeconfigCommand(io: Io): Command {
  const command = new Command('kubeconfig')
    .description('print the kubeconfig of the administrator of a hosted cluster')
    .argument('<hosted-cluster>', 'name of the Cluster')
    .option('--path', 'print the path of the file instead of its content')
    .option('--wait', 'wait until the control plane is ready')
    .addOption(createDurationOption('--timeout <duration>', 'how long to wait', '10m'))
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string, flags: KubeconfigFlags) => {
    io.out(await withCluster(io, flags, (client) => kubeconfigText(io, client, { name, flags })));
  });
}

interface KubeconfigRequest {
  readonly name: string;
  readonly flags: KubeconfigFlags;
}

async function kubeconfigText(io: Io, client: Client, request: KubeconfigRequest): Promise<string> {
  const { name, flags } = request;
  const first = await readNamed<Cluster>(client, CLUSTERS, name, io.signal);
  const { uid = '' } = first.metadata;
  if (flags.wait === true) await requireReady(io, client, { name, uid, seconds: flags.timeout });
  const cluster = flags.wait === true ? await readNamed<Cluster>(client, CLUSTERS, name, io.signal) : first;
  const dir = localFolder(cluster, hostname());
  const found = await readPlane(dir, { name, uid });
  // Waiting does not help where the folder is that of another Cluster.
  if (found.claim === 'Other') requireOwn(found);
  const access = await readAccess(found);
  const file = found.layout.cluster(name).kubeconfig;
  if (!access) throw noAccessError(name, file);
  return flags.path === true ? `${file}\n` : contentOf(io, access, cluster);
}

function contentOf(io: Io, { admin, adminOutside }: PlaneAccess, cluster: Cluster): string {
  if (adminOutside === undefined) return admin;
  const warning = unreachedWarning(cluster);
  if (warning !== undefined) io.err(`${warning}\n`);
  return adminOutside;
}

/** Returns what a person has to know who gets a kubeconfig whose address leads nowhere now. */
export function unreachedWarning({ status }: Pick<Cluster, 'status'>): string | undefined {
  const gateways = status?.hosted?.components?.find(({ name }) => name === GATEWAYS[0]);
  if (gateways?.ready !== 0) return undefined;
  return 'no gateway answers at the address of this kubeconfig; on this machine use the file that --path prints';
}

interface ReadyWait {
  readonly name: string;
  readonly uid: string;
  readonly seconds: number;
}

async function requireReady(io: Io, client: Client, wait: ReadyWait): Promise<void> {
  const view = await waitForPlane(io, { client, ...wait }, isSettled);
  if (!view) throw deletedMeanwhile(wait.name);
  if (view.state === 'Ready') return;
  throw new CliError(`Cluster ${wait.name} is ${view.state}: ${view.message}`, {
    hint: 'see kubenode cluster list',
    exitCode: EXIT.unhealthy,
  });
}

function noAccessError(name: string, file: string): CliError {
  return new CliError(`Cluster ${name} has no kubeconfig on this machine yet`, {
    where: file,
    hint: `wait for it: kubenode cluster kubeconfig ${name} --wait`,
    exitCode: EXIT.unavailable,
  });
}
