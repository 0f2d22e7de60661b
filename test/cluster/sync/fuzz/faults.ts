/** What breaks around the target, each with its repair. */
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import type { Fault } from '../../../sync/fuzz/acts.ts';
import { DOWN_GROUP } from '../../../sync/fuzz/content.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { credentialsOf, rightsOf, TARGET } from './setup.ts';

export interface ActiveFault {
  /** Nothing can reach the target before the repair. */
  readonly isCutOff: boolean;
  repair(): Promise<void>;
}

export async function startFault(fleet: FuzzFleet, fault: Fault): Promise<ActiveFault> {
  const { hub, servers } = fleet;
  const target = servers[TARGET];
  switch (fault) {
    case 'aggregated API down':
      return { isCutOff: false, repair: await createUntilRepair(target.client, API_SERVICE) };
    case 'rights removed': {
      const { binding, resource } = await rightsOf(target);
      await remove(target.client, resource, binding);
      return { isCutOff: false, repair: () => recreate(target.client, resource, binding) };
    }
    case 'credentials broken': {
      const secret = await credentialsOf(hub, TARGET);
      await hub.client.replace(SECRETS, { ...secret, data: { kubeconfig: btoa('{}') } });
      return { isCutOff: true, repair: async () => restore(hub.client, SECRETS, secret) };
    }
    case 'server killed':
      await target.kill();
      return { isCutOff: true, repair: () => target.start() };
    default:
      return fault satisfies never;
  }
}

/** Of a service that does not exist: discovery of the group fails, and every kind in it is unknown. */
const API_SERVICE: KubeObject = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `v1.${DOWN_GROUP}` },
  spec: {
    group: DOWN_GROUP,
    version: 'v1',
    service: { name: 'none', namespace: 'default' },
    groupPriorityMinimum: 1000,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
  },
};

async function createUntilRepair(client: Client, object: KubeObject): Promise<() => Promise<void>> {
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  await recreate(client, resource, object);
  return () => remove(client, resource, object);
}

async function recreate(
  client: Client,
  resource: Resource,
  { metadata, ...fields }: KubeObject,
): Promise<void> {
  const object = { ...fields, metadata: { name: metadata.name } } as KubeObject;
  await client.create(resource, object).catch((error: unknown) => {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  });
}

async function remove(client: Client, resource: Resource, { metadata: { name } }: KubeObject): Promise<void> {
  try {
    const { metadata } = await client.get(resource, { name });
    await client.delete(resource, { name }, { uid: metadata.uid ?? '' });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
}

async function restore(client: Client, resource: Resource, object: KubeObject): Promise<void> {
  const { name, namespace } = object.metadata;
  const { metadata } = await client.get(resource, namespace ? { name, namespace } : { name });
  await client.replace(resource, { ...object, metadata });
}
