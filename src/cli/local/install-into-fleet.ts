/** Installs what `kubenode local up` brings: the kinds in every cluster, and in the hub the kubeconfigs for sync. */
import { installation } from '../../api/install/installation.ts';
import { ANNOTATION_INSTALLED, NAMESPACE } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { unlessMissing } from '../../kube/client/errors.ts';
import { NAMESPACES } from '../../kube/objects/core-kinds.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import type { LocalFleet } from '../../local/fleet.ts';
import { HUB } from '../../local/names.ts';
import { writeKubeconfigSecrets } from '../../local/pki/secrets.ts';
import type { Io } from '../io.ts';
import type { StepProgress } from '../progress.ts';
import { installInto, throwIfInstallFailed } from './install-into.ts';

const MANAGER = 'kubenode-local';

/** Installs into all clusters concurrently. The Secrets of the hub come last, so that sync finds only clusters that are ready. */
export async function installIntoFleet(io: Io, fleet: LocalFleet, progress: StepProgress): Promise<void> {
  const names = fleet.state.clusters.map(({ name }) => name);
  progress.step(`installing kubenode into ${names.join(', ')}`);
  const digest = digestOf(installation());
  await Promise.all(
    names.map((name) => withClient(io, fleet, name, (client) => installIfChanged(io, client, digest))),
  );
  await withClient(io, fleet, HUB, (hub) => writeKubeconfigSecrets(hub, fleet, io.signal));
}

/** Skips a cluster whose annotation has this digest. The annotation is written last, so it never marks a partial installation. */
async function installIfChanged(io: Io, client: Client, digest: string): Promise<void> {
  if ((await readInstalledDigest(io, client)) === digest) return;
  // About a hundred steps in two seconds for each cluster: not worth showing.
  const silent = { step: () => undefined };
  throwIfInstallFailed(await installInto(io, client, { progress: silent }), client.server);
  const metadata = { name: NAMESPACE, annotations: { [ANNOTATION_INSTALLED]: digest } };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await client.apply(NAMESPACES, namespace, { fieldManager: MANAGER, force: true, signal: io.signal });
}

async function readInstalledDigest({ signal }: Io, client: Client): Promise<string | undefined> {
  const found = await unlessMissing(client.get(NAMESPACES, { name: NAMESPACE }, { signal }));
  return found?.metadata.annotations?.[ANNOTATION_INSTALLED];
}

async function withClient(
  io: Io,
  fleet: LocalFleet,
  name: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connect({ kubeconfig: fleet.layout.cluster(name).kubeconfig, clock: io.clock });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}
