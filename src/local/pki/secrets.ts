/** Tells the hub how sync reaches each local cluster: as itself, and not as an administrator. */

import {
  kubeconfigSecret,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  MANAGER_INSTALL,
  NAMESPACE,
} from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Fleet } from '../fleet.ts';
import { syncKubeconfig } from './access.ts';

/** Applied each time: after a renewal or a change of port the hub knows the new one. */
export async function writeKubeconfigSecrets(hub: Client, fleet: Fleet, signal?: AbortSignal): Promise<void> {
  for (const secret of kubeconfigSecrets(fleet)) {
    await hub.apply(SECRETS, secret, {
      fieldManager: MANAGER_INSTALL,
      force: true,
      ...(signal ? { signal } : {}),
    });
  }
}

export function kubeconfigSecrets({ state, access }: Pick<Fleet, 'state' | 'access'>): readonly KubeObject[] {
  return state.clusters.flatMap((cluster) => {
    const own = access.clusters.get(cluster.name);
    if (!own) return [];
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: kubeconfigSecret(cluster.name),
        namespace: NAMESPACE,
        labels: { [LABEL_MANAGED_BY]: MANAGED_BY },
      },
      type: 'Opaque',
      data: { kubeconfig: Buffer.from(syncKubeconfig(cluster, own)).toString('base64') },
    };
  });
}
