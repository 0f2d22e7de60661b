/** Writes the kubeconfigs of sync for each local cluster into the hub. They use the identity of sync, not of an administrator. */
import {
  ANNOTATION_SECRET_USE,
  kubeconfigSecret,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  MANAGER_INSTALL,
  NAMESPACE,
} from '../../api/names.ts';
import type { SecretUse } from '../../api/secrets/references.ts';
import type { Client } from '../../kube/client/client.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { LocalFleet } from '../fleet.ts';
import { createSyncKubeconfig } from './access.ts';

const KUBECONFIG_USE: SecretUse = 'kubeconfig';

/** Applied on every `up`, so that the hub gets renewed certificates and changed ports. */
export async function writeKubeconfigSecrets(
  hub: Client,
  fleet: LocalFleet,
  signal?: AbortSignal,
): Promise<void> {
  for (const secret of createKubeconfigSecrets(fleet)) {
    await hub.apply(SECRETS, secret, {
      fieldManager: MANAGER_INSTALL,
      force: true,
      ...(signal ? { signal } : {}),
    });
  }
}

export function createKubeconfigSecrets({
  state,
  access,
}: Pick<LocalFleet, 'state' | 'access'>): readonly KubeObject[] {
  return state.clusters.flatMap((cluster) => {
    const clusterAccess = access.clusters.get(cluster.name);
    if (!clusterAccess) return [];
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: kubeconfigSecret(cluster.name),
        namespace: NAMESPACE,
        labels: { [LABEL_MANAGED_BY]: MANAGED_BY },
        annotations: { [ANNOTATION_SECRET_USE]: KUBECONFIG_USE },
      },
      type: 'Opaque',
      data: { kubeconfig: Buffer.from(createSyncKubeconfig(cluster, clusterAccess)).toString('base64') },
    };
  });
}
