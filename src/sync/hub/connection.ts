/** Creates the client of a cluster from its Cluster object. */
import { isMap, isSeq, parseDocument } from 'yaml';
import { CLUSTERS } from '../../api/generated/resources.ts';
import type { Cluster } from '../../api/generated/types.ts';
import { kubeconfigSecret, NAMESPACE } from '../../api/names.ts';
import { readSecret, SecretError, secretVersion } from '../../api/secrets/read.ts';
import { type SecretReference, secretReferences } from '../../api/secrets/references.ts';
import { readKubeconfig, selectContext } from '../../kube/auth/kubeconfig.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { optional } from '../../kube/objects/optional.ts';
import { createLimiter } from '../../kube/transport/limiter.ts';
import type { Clock } from '../../os/clock.ts';

export interface ConnectionOptions {
  readonly secrets: Store;
  readonly clock: Clock;
  /** Connects to a cluster that is its own hub. */
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
  const kubeconfigText = readKubeconfigText(ref, secrets, cluster.spec.connection?.server);
  const limiter = createLimiter({ clock });
  const reports = { ...optional('onCall', onCall), ...optional('fence', fence) };
  return connectWith(ref, { kubeconfigText, clock, limiter, ...reports });
}

/** An error of the kubeconfig names the Secret that contains it. */
async function connectWith(
  { name, key }: SecretReference,
  options: Parameters<typeof connect>[0],
): Promise<Client> {
  try {
    return await connect(options);
  } catch (error) {
    if (!isKubeError(error, 'Config')) throw error;
    const message = `Secret ${NAMESPACE}/${name}, key ${key}: ${error.message}`;
    throw new KubeError('Config', message, { cause: error });
  }
}

/** The Secret with the kubeconfig; undefined for a cluster that is its own hub. */
export function credentialsOf(cluster: Cluster): SecretReference | undefined {
  const { name } = cluster.metadata;
  if (cluster.spec.hosted) {
    return { name: kubeconfigSecret(name), key: HOSTED_KEY, use: 'kubeconfig', user: `Cluster ${name}` };
  }
  return secretReferences(CLUSTERS.kind, cluster)[0];
}

/** Git may name another server: the Secret has to permit its host, because the kubeconfig may contain a token. */
function readKubeconfigText(ref: SecretReference, secrets: Store, server: string | undefined): string {
  try {
    const text = readSecret(secrets, ref, 'nowhere');
    if (server === undefined) return text;
    const host = new URL(server).host;
    if (host !== hostIn(text, ref)) readSecret(secrets, ref, { host });
    return withServer(text, server);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw new KubeError('Credentials', error.message, { cause: error });
  }
}

/** Returns the host that the kubeconfig itself names. */
function hostIn(text: string, { name }: SecretReference): string | undefined {
  const config = readKubeconfig(text, { origin: `the kubeconfig in Secret ${name}`, trusted: false });
  return URL.parse(selectContext(config).cluster.server)?.host;
}

/** Overrides the server of a kubeconfig. Credentials and certificate authorities stay unchanged. */
export function withServer(kubeconfig: string, server: string): string {
  const document = parseDocument(kubeconfig);
  const clusters = document.get('clusters');
  if (!isSeq(clusters)) throw new KubeError('Config', 'the kubeconfig in the Secret has no list of clusters');
  for (const entry of clusters.items) if (isMap(entry)) entry.setIn(['cluster', 'server'], server);
  return document.toString();
}
