/** The kubeconfig with which sync reaches a cluster, and the Secret of the hub that has it. Pure. */
import { stringify } from 'yaml';
import {
  ANNOTATION_SECRET_USE,
  kubeconfigSecret,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  NAMESPACE,
  PRINCIPAL_SYNC,
} from '../../../api/names.ts';
import type { SecretUse } from '../../../api/secrets/references.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export interface SyncAccess {
  readonly cluster: string;
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

const USE: SecretUse = 'kubeconfig';

export function formatSyncKubeconfig({ cluster, server, caPem, token }: SyncAccess): string {
  const user = PRINCIPAL_SYNC;
  const authority = Buffer.from(caPem).toString('base64');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': cluster,
      clusters: [{ name: cluster, cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: cluster, context: { cluster, user } }],
    },
    { lineWidth: 0 },
  );
}

export function createAccessSecret(access: SyncAccess): KubeObject {
  const { cluster } = access;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: kubeconfigSecret(cluster),
      namespace: NAMESPACE,
      labels: { [LABEL_MANAGED_BY]: MANAGED_BY },
      annotations: { [ANNOTATION_SECRET_USE]: USE },
    },
    type: 'Opaque',
    data: { kubeconfig: Buffer.from(formatSyncKubeconfig(access)).toString('base64') },
  };
}

/** Whether only this machine reaches the address. */
export function isLoopback(server: string): boolean {
  const host = URL.parse(server)?.hostname ?? '';
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
}
