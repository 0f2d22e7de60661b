/** Control planes that run as pods of a hub: how tests create, reach and remove them. */
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import type { Cluster, ClusterHosted } from '../../../../src/api/generated/types.ts';
import { kubeconfigSecret, NAMESPACE } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { planeNamespace } from '../../../../src/controllers/hosting/drivers/workload/names.ts';
import { unlessMissing } from '../../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { NAMESPACES, PODS, SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { CONTROL_PLANE_VERSION } from '../../../../src/local/binaries/versions.ts';
import { eventually } from '../../eventually.ts';
import type { PodHub } from './hub.ts';
import { CLAIMS, VOLUMES } from './volumes.ts';

const LIMIT_MS = 600_000;

/** Resolves to the seconds until it is ready. The node serves it, so that programs of this machine reach it, too. */
export async function createPlane(
  { server, node }: PodHub,
  name: string,
  more: Partial<ClusterHosted> = {},
): Promise<number> {
  const exposure = { type: 'NodePort', host: node.address };
  await server.client.create(CLUSTERS, {
    apiVersion: API_VERSION,
    kind: 'Cluster',
    metadata: { name },
    spec: {
      environment: 'test',
      deletion: { protection: false, policy: 'Delete' },
      hosted: {
        driver: 'workload',
        version: CONTROL_PLANE_VERSION,
        etcd: { storageGiB: 1 },
        exposure,
        ...more,
      },
    },
  });
  const started = performance.now();
  const isReady = async (): Promise<true | undefined> =>
    (await conditionText({ server }, name)).startsWith('True') || undefined;
  await eventually(isReady, `${name} is not ready`, LIMIT_MS).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await describePlane({ server }, name)}`, { cause: error });
  });
  return (performance.now() - started) / 1000;
}

/** Resolves to the seconds until nothing of it is left in the hub. */
export async function deletePlane(hub: PodHub, name: string): Promise<number> {
  const { client } = hub.server;
  const { metadata } = await client.get(CLUSTERS, { name });
  const started = performance.now();
  await client.delete(CLUSTERS, { name }, { uid: metadata.uid ?? '' });
  const isRemoved = async (): Promise<true | undefined> =>
    (await leftovers(hub, name)).length === 0 || undefined;
  await eventually(isRemoved, `${name} is not removed`, LIMIT_MS).catch(async (error: unknown) => {
    throw new Error(`${String(error)}: ${(await leftovers(hub, name)).join(', ')}`, { cause: error });
  });
  return (performance.now() - started) / 1000;
}

/** What is left of a control plane in its hub. */
export async function leftovers(
  { server: { client } }: Pick<PodHub, 'server'>,
  name: string,
): Promise<readonly string[]> {
  const namespace = planeNamespace(name);
  const named = await Promise.all([
    unlessMissing(client.get(CLUSTERS, { name })),
    unlessMissing(client.get(NAMESPACES, { name: namespace })),
    unlessMissing(client.get(SECRETS, { name: kubeconfigSecret(name), namespace: NAMESPACE })),
  ]);
  const inside = await Promise.all([PODS, CLAIMS].map((kind) => client.list(kind, { namespace })));
  const volumes = (await client.list(VOLUMES)).items.filter(
    (volume) => textAt(volume, 'spec', 'claimRef', 'namespace') === namespace,
  );
  const objects = [...named, ...inside.flatMap(({ items }) => items), ...volumes];
  return objects.flatMap((object) => (object ? [`${object.kind}/${object.metadata.name}`] : []));
}

export async function conditionText(
  { server }: Pick<PodHub, 'server'>,
  name: string,
  type = 'ControlPlaneReady',
): Promise<string> {
  const cluster = await server.client.get<Cluster>(CLUSTERS, { name });
  const condition = conditionOf(cluster.status?.conditions, type);
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

/** The pods of a member that are not being deleted. */
export async function podsOf(
  { server }: Pick<PodHub, 'server'>,
  name: string,
  member: string,
): Promise<readonly KubeObject[]> {
  const labelSelector = `kubenode.dev/part=${member}`;
  const { items } = await server.client.list(PODS, { namespace: planeNamespace(name), labelSelector });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export function isReadyPod(pod: KubeObject): boolean {
  const ready = listAt(pod, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Ready');
  return textAt(ready, 'status') === 'True';
}

/** What a person would look at: conditions, what is waited for, and pods that are not ready. */
async function describePlane({ server }: Pick<PodHub, 'server'>, name: string): Promise<string> {
  const { status } = await server.client.get<Cluster>(CLUSTERS, { name });
  const { items } = await server.client.list(PODS);
  const pods = items.filter((pod) => !isReadyPod(pod)).map(({ metadata, status: of }) => ({ metadata, of }));
  const shown = pods.map(
    ({ metadata, of }) => `${metadata.namespace}/${metadata.name}: ${JSON.stringify(of)}`,
  );
  return [JSON.stringify(status?.conditions), JSON.stringify(status?.hosted), ...shown].join('\n');
}
