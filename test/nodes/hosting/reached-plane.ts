/** A hosted control plane of driver `process`, kept by `kubenode hosting` beside a real hub. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { kubeconfigSecret, NAMESPACE, PRINCIPAL_HOSTING } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { planeLayout } from '../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { startInstalledServer } from '../../cluster/api/installed-server.ts';
import { createHostingProcess, type HostingProcess } from '../../support/hosting/hosting-process.ts';
import { VERSION } from '../../support/hosting/objects.ts';
import { withClient } from '../../support/kube/with-client.ts';
import { tempFolder } from '../../support/temp.ts';

export interface ReachedPlane {
  /** Paths of the files of the control plane. */
  readonly root: string;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly kubectl: string;
  /** The path of a kubeconfig of the hub. */
  readonly hubKubeconfig: string;
  cluster(): Promise<Cluster>;
  patch(spec: object): Promise<void>;
  /** Runs the work with the kubeconfig of the administrator as it is now. */
  asAdmin<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Runs the work with the kubeconfig that hosting hands to sync. */
  asSync<T>(work: (client: Client) => Promise<T>): Promise<T>;
  readonly hosting: HostingProcess;
  stop(): Promise<void>;
}

/** Declares the Cluster, and starts the hosting that makes it. `exposure`: where other machines reach it. */
export async function startReachedPlane(name: string, exposure: object = {}): Promise<ReachedPlane> {
  const dir = join(tempFolder('hosting'), 'hosting');
  const installed = await startInstalledServer();
  const { server } = installed;
  const hub = server.client;
  const hubKubeconfig = await server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
  const { kubeconfig, pkiFolder } = planeLayout(dir, name).cluster(name);
  const hosting = createHostingProcess({ hub, kubeconfig: hubKubeconfig, dir });

  const spec = {
    environment: 'test',
    deletion: { protection: false },
    hosted: { driver: 'process', version: VERSION, exposure },
  };
  await hosting.start();
  await hub.create(CLUSTERS, { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name }, spec });
  return {
    root: planeLayout(dir, name).root,
    kubeconfig,
    caFile: join(pkiFolder, 'ca.pem'),
    kubectl: server.kubectl,
    hubKubeconfig,
    cluster: () => hub.get<Cluster>(CLUSTERS, { name }),
    patch: async (body) =>
      void (await hub.patch(CLUSTERS, { name }, { type: 'merge', body: { spec: body } })),
    asAdmin: (work) => withClient(readFileSync(kubeconfig, 'utf8'), work),
    async asSync(work) {
      const secret = await hub.get(SECRETS, { name: kubeconfigSecret(name), namespace: NAMESPACE });
      return await withClient(
        Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString(),
        work,
      );
    },
    hosting,
    async stop() {
      await hosting.endAll();
      await installed.stop();
    },
  };
}
