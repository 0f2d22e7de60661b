/** What `kubenode local up` puts into its clusters: the kinds, and into the hub how sync reaches the others. */

import { installation } from '../../../api/install/installation.ts';
import { ANNOTATION_INSTALLED, NAMESPACE } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { NAMESPACES } from '../../../kube/objects/core-kinds.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import type { Fleet } from '../../../local/fleet.ts';
import { HUB } from '../../../local/names.ts';
import { writeKubeconfigSecrets } from '../../../local/pki/secrets.ts';
import type { Io } from '../../io.ts';
import type { Progress } from '../../progress.ts';
import { installInto, refuseFailures } from '../install.ts';

const MANAGER = 'kubenode-local';

/** All clusters at once, the hub's Secrets last: sync finds a cluster there once that is ready for it. */
export async function installAll(io: Io, fleet: Fleet, progress: Progress): Promise<void> {
  const names = fleet.state.clusters.map(({ name }) => name);
  progress.step(`installing the kinds of kubenode in ${names.join(', ')}`);
  const wanted = digestOf(installation());
  await Promise.all(
    names.map((name) => withClient(io, fleet, name, (client) => installInOne(io, client, wanted))),
  );
  await withClient(io, fleet, HUB, (hub) => writeKubeconfigSecrets(hub, fleet, io.signal));
}

/** The mark lies in the cluster, and is written last: it goes when the data goes, and says nothing of half an installation. */
async function installInOne(io: Io, client: Client, wanted: string): Promise<void> {
  if ((await installedDigest(io, client)) === wanted) return;
  // Its hundred steps a cluster are too many words for something that takes two seconds.
  const quiet = { step: () => undefined };
  refuseFailures(await installInto(io, client, { progress: quiet }), client.server);
  const metadata = { name: NAMESPACE, annotations: { [ANNOTATION_INSTALLED]: wanted } };
  const mark = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await client.apply(NAMESPACES, mark, { fieldManager: MANAGER, force: true, signal: io.signal });
}

async function installedDigest({ signal }: Io, client: Client): Promise<string | undefined> {
  try {
    const { metadata } = await client.get(NAMESPACES, { name: NAMESPACE }, { signal });
    return metadata.annotations?.[ANNOTATION_INSTALLED];
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function withClient(
  io: Io,
  fleet: Fleet,
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
