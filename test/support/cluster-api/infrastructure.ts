/**
 * Small providers of infrastructure and bootstrap data by the published contracts of Cluster API: each infrastructure machine gets a Node in the
 * same cluster, with a kubelet that is Ready, and bootstrap data is a name. Cluster API itself does all the rest.
 */

import { resourceOf } from '../../../src/api/install/objects.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, ObjectName, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { node } from '../builders.ts';

const GROUP = 'infrastructure.cluster.x-k8s.io';
export const INFRA_API_VERSION = `${GROUP}/v1beta1`;
export const INFRA_TEMPLATES = kindOf('TestMachineTemplate');
export const INFRA_CLUSTERS = kindOf('TestCluster');
export const INFRA_MACHINES = kindOf('TestMachine');
const BOOTSTRAP_GROUP = 'bootstrap.cluster.x-k8s.io';
export const BOOTSTRAP_API_VERSION = `${BOOTSTRAP_GROUP}/v1beta1`;
export const BOOTSTRAP_TEMPLATES = kindOf('TestConfigTemplate', BOOTSTRAP_GROUP);
const BOOTSTRAP_CONFIGS = kindOf('TestConfig', BOOTSTRAP_GROUP);
/** The kinds of the kubeadm bootstrap provider, of which the tests play the part: its data is a name, too. */
export const KUBEADM_API_VERSION = `${BOOTSTRAP_GROUP}/v1beta2`;
export const KUBEADM_CONFIGS: Resource = {
  ...kindOf('KubeadmConfig', BOOTSTRAP_GROUP),
  version: 'v1beta2',
};
export const KUBEADM_TEMPLATES: Resource = {
  ...kindOf('KubeadmConfigTemplate', BOOTSTRAP_GROUP),
  version: 'v1beta2',
};
const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];
const PERIOD_MS = 250;

export interface TestProvider {
  stop(): Promise<void>;
}

/** `bootstrapKinds` are those of its bootstrap configs, whose CRDs are there already. */
export async function startInfrastructure(
  client: Client,
  bootstrapKinds: readonly Resource[] = [],
): Promise<TestProvider> {
  const clock = createSystemClock();
  const infra = [INFRA_CLUSTERS, INFRA_MACHINES, INFRA_TEMPLATES];
  for (const resource of [...infra, BOOTSTRAP_CONFIGS, BOOTSTRAP_TEMPLATES]) {
    const crd = crdOf(resource);
    await client.apply(resourceOf(crd), crd, { fieldManager: 'clusterctl' });
    const served = { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind };
    await waitUntilServed(client, clock, served, AbortSignal.timeout(60_000));
  }
  const stop = new AbortController();
  const running = provide(client, [BOOTSTRAP_CONFIGS, ...bootstrapKinds], stop.signal);
  return {
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** A cluster whose API server is there already. */
export async function createInfraCluster(
  client: Client,
  target: ObjectName,
  endpoint: object,
): Promise<void> {
  const object = { apiVersion: INFRA_API_VERSION, kind: INFRA_CLUSTERS.kind, metadata: target };
  await client.create(INFRA_CLUSTERS, { ...object, spec: { controlPlaneEndpoint: endpoint } });
  await client.patch(INFRA_CLUSTERS, target, { type: 'merge', body: PROVISIONED }, { subresource: 'status' });
}

/** The machine of a Machine that no set has created. */
export async function createInfraMachine(client: Client, metadata: ObjectName): Promise<void> {
  const { kind } = INFRA_MACHINES;
  await client.create(INFRA_MACHINES, { apiVersion: INFRA_API_VERSION, kind, metadata, spec: {} });
}

const PROVISIONED = { status: { initialization: { provisioned: true } } };

async function provide(client: Client, kinds: readonly Resource[], signal: AbortSignal): Promise<void> {
  const clock = createSystemClock();
  while (!signal.aborted) {
    const machines = await client.list(INFRA_MACHINES);
    const created = machines.items.filter((each) => textAt(each, 'spec', 'providerID') === undefined);
    for (const each of created) await create(client, each);
    for (const kind of kinds) {
      const { items } = await client.list(kind);
      const empty = items.filter((each) => textAt(each, 'status', 'dataSecretName') === undefined);
      for (const { metadata } of empty) await bootstrap(client, kind, metadata);
    }
    await clock.sleep(PERIOD_MS, signal).catch(() => {});
  }
}

async function bootstrap(
  client: Client,
  kind: Resource,
  { name, namespace = '' }: KubeObject['metadata'],
): Promise<void> {
  const body = { status: { dataSecretName: 'none', initialization: { dataSecretCreated: true } } };
  await client.patch(kind, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
}

/** The Node has the name of the machine. */
async function create(client: Client, { metadata }: KubeObject): Promise<void> {
  const { name, namespace } = metadata;
  if (metadata.deletionTimestamp !== undefined) return;
  const providerID = `test://${name}`;
  const { status, ...its } = node(name);
  try {
    await client.create(NODES, { ...its, spec: { providerID } });
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
  const ready = valueAt(status, 'conditions') as readonly object[];
  const conditions = [...ready, ...PRESSURES.map((type) => ({ type, status: 'False' }))];
  const body = { status: { conditions } };
  await client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
  const target = { name, ...(namespace === undefined ? {} : { namespace }) };
  await client.patch(INFRA_MACHINES, target, { type: 'merge', body: PROVISIONED }, { subresource: 'status' });
  await client.patch(INFRA_MACHINES, target, { type: 'merge', body: { spec: { providerID } } });
}

function kindOf(kind: string, group = GROUP): Resource {
  return { group, version: 'v1beta1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}

function crdOf({ group, kind, plural }: Resource): KubeObject {
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: any, status: any } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // The version of the contract, and the version of this kind that obeys it.
    metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}
