/** `kubenode cluster create`: writes a Cluster with a hosted control plane to the hub. `kubenode hosting` creates it. */
import { Command } from 'commander';
import { CLUSTERS } from '../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../api/generated/types.ts';
import { MANAGER_CLI } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../kube/client/errors.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { CONTROL_PLANE_VERSION } from '../../../../local/binaries/versions.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { EXIT } from '../../../errors.ts';
import { setExitCode } from '../../../exit.ts';
import { DRY_RUN, type WriteFlags } from '../../../fleet/person-write.ts';
import { withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createDurationOption } from '../../../option-parsers.ts';
import { createOutputOption, type OutputFormat } from '../../../output.ts';
import { existsError, newCluster } from './new-cluster.ts';
import { type PlaneView, planeView } from './plane-view.ts';
import { printPlane } from './print.ts';
import { deletedMeanwhile, isSettled, waitForPlane } from './wait.ts';

const HELP = `
Writes a Cluster of environment test to the hub. A "kubenode hosting" of the hub makes a control plane of it: etcd, the API server, the
controllers of Kubernetes, and those of kubenode with the Defender. Its time begins when it is ready; when that is over, it is deleted. It is
not protected. A stage whose clusterSelector selects environment test syncs it as any other cluster.

--wait ends when it is ready, or when a person is needed. Exit code 3: it is not ready; the Cluster stays.

Examples:
  kubenode cluster create ci-17 --ttl 1h --wait
  kubenode cluster create try --version v1.36.3 --no-ttl
  kubenode cluster create ci-17 --wait -o json`;

interface CreateFlags extends ConnectionFlags, WriteFlags {
  readonly version: string;
  /** In seconds. False: --no-ttl. */
  readonly ttl: number | false;
  readonly wait?: true;
  /** In seconds. */
  readonly timeout: number;
  readonly output: OutputFormat;
}

export function createClusterCreateCommand(io: Io): Command {
  const command = new Command('create')
    .description('create a cluster with a control plane that the hub hosts')
    .argument('<new-cluster>', 'its name')
    .option('--version <version>', 'version of Kubernetes', CONTROL_PLANE_VERSION)
    .addOption(
      createDurationOption('--ttl <duration>', 'delete it this long after it was ready: 30m, 8h', '1d'),
    )
    .option('--no-ttl', 'keep it until somebody deletes it')
    .option('--wait', 'wait until it is ready')
    .addOption(createDurationOption('--timeout <duration>', 'how long to wait', '10m'))
    .option(...DRY_RUN)
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: CreateFlags) =>
    withCluster(io, flags, (client) => createCluster(io, client, { name, flags })),
  );
}

interface CreateRequest {
  readonly name: string;
  readonly flags: CreateFlags;
}

async function createCluster(io: Io, client: Client, { name, flags }: CreateRequest): Promise<void> {
  const { version, ttl, timeout: seconds, output, dryRun = false } = flags;
  const object = newCluster({ name, version, ttlSeconds: ttl || undefined });
  const created = await write(io, client, { object, dryRun });
  const isWaiting = flags.wait === true && !dryRun;
  const view = isWaiting ? await follow(io, client, created, seconds) : planeView(created);
  if (!view) throw deletedMeanwhile(name);
  printPlane(io, output, view);
  if (isWaiting && view.state !== 'Ready') setExitCode(io, EXIT.unhealthy);
}

async function follow(
  io: Io,
  client: Client,
  { metadata: { name, uid = '' } }: Cluster,
  seconds: number,
): Promise<PlaneView | undefined> {
  return await waitForPlane(io, { client, name, uid, seconds }, isSettled);
}

interface ClusterWrite {
  readonly object: KubeObject;
  readonly dryRun: boolean;
}

/** Create, not apply: a Cluster that exists is never changed. */
async function write(io: Io, client: Client, { object, dryRun }: ClusterWrite): Promise<Cluster> {
  const options = { fieldManager: MANAGER_CLI, signal: io.signal, dryRun };
  try {
    return await client.create<Cluster>(CLUSTERS, object, options);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    const found = await unlessMissing(client.get<Cluster>(CLUSTERS, object.metadata, { signal: io.signal }));
    throw found ? existsError(found) : error;
  }
}
