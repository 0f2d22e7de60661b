/** Creates the client of a cluster from its Cluster object. */
import { isMap, isSeq, parseDocument } from 'yaml';
import type { Cluster } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { KubeError } from '../../kube/client/errors.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { createLimiter } from '../../kube/transport/limiter.ts';
import type { Clock } from '../../os/clock.ts';
import { MissingSecretError, type SecretRef, secretValue, secretVersion } from './credentials.ts';

export interface ConnectionOptions {
  readonly secrets: Store;
  readonly clock: Clock;
  /** For a cluster that is its own hub. */
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  /** Called as each write leaves; when it throws, nothing is sent. */
  readonly fence?: () => void;
  readonly onCall?: (report: CallReport) => void;
}

const HOSTED_KEY = 'kubeconfig';

/** Differs when the cluster has to be connected again. */
export function connectionVersion(cluster: Cluster, secrets: Store): string {
  const ref = credentialsOf(cluster);
  return JSON.stringify([cluster.spec.connection, ref, ref ? secretVersion(secrets, ref) : '']);
}

export async function connectCluster(cluster: Cluster, options: ConnectionOptions): Promise<Client> {
  const { clock, secrets, onCall, fence } = options;
  if (cluster.spec.connection?.inCluster) return options.connectHub(fence);
  const ref = credentialsOf(cluster);
  if (!ref) {
    throw new KubeError(
      'Config',
      `Cluster ${cluster.metadata.name} has no credentials: set spec.connection.credentialsRef`,
    );
  }
  const text = kubeconfigText(cluster, ref, secrets);
  return connect({
    kubeconfigText: cluster.spec.connection?.server ? withServer(text, cluster.spec.connection.server) : text,
    clock,
    limiter: createLimiter({ clock }),
    ...(onCall ? { onCall } : {}),
    ...(fence ? { fence } : {}),
  });
}

/** The Secret with the kubeconfig; undefined for a cluster that is its own hub. */
export function credentialsOf({ metadata, spec }: Cluster): SecretRef | undefined {
  if (spec.hosted) return { name: `${metadata.name}-kubeconfig`, key: HOSTED_KEY };
  const ref = spec.connection?.credentialsRef;
  return ref ? { name: ref.name, key: ref.key ?? HOSTED_KEY } : undefined;
}

function kubeconfigText(cluster: Cluster, ref: SecretRef, secrets: Store): string {
  try {
    return secretValue(secrets, ref, `Cluster ${cluster.metadata.name}`);
  } catch (error) {
    if (!(error instanceof MissingSecretError)) throw error;
    throw new KubeError('Credentials', error.message, { cause: error });
  }
}

/** Overrides the server of a kubeconfig. Credentials and certificate authorities stay unchanged. */
export function withServer(kubeconfig: string, server: string): string {
  const document = parseDocument(kubeconfig);
  const clusters = document.get('clusters');
  if (!isSeq(clusters)) throw new KubeError('Config', 'the kubeconfig in the Secret has no list of clusters');
  for (const entry of clusters.items) if (isMap(entry)) entry.setIn(['cluster', 'server'], server);
  return document.toString();
}
