/**
 * A provisioner of volumes for the claims of a test hub: folders on the disk of its node, made when a claim asks and removed after it. The
 * kubelet gives them to the group of a pod, as it does with other disks.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../../../src/kube/client/client.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import type { TestNode } from '../../node-kit/node.ts';

export const STORAGE_CLASS = 'node-folders';
/** Its volumes stay when their claims are deleted. */
export const RETAINING_CLASS = 'node-folders-retained';
/** The folder of all volumes on the node. */
export const VOLUMES_FOLDER = '/srv/volumes';
const PROVISIONER = 'example.com/node-folders';
const MANAGER = 'node-folders';
/** Less than a pod takes to be scheduled again. */
const INTERVAL_MS = 250;

export const CLAIMS: Resource = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
};
export const VOLUMES: Resource = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
};
const STORAGE_CLASSES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
};

/** Creates the default StorageClass and serves its claims. Resolves to what ends it. */
export async function startProvisioner(client: Client, node: TestNode): Promise<() => Promise<void>> {
  await client.apply(STORAGE_CLASSES, storageClass(), { fieldManager: MANAGER });
  await client.apply(STORAGE_CLASSES, retainingClass(), { fieldManager: MANAGER });
  const ending = new AbortController();
  const serving = serve();
  return async () => {
    ending.abort();
    await serving;
  };

  async function serve(): Promise<void> {
    while (!ending.signal.aborted) {
      // The API server may be stopped by a test, and what failed is done in the next round.
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await serveOnce(client, node).catch(() => undefined);
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await pause(INTERVAL_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }
}

async function serveOnce(client: Client, node: TestNode): Promise<void> {
  const [claims, volumes] = await Promise.all([client.list(CLAIMS), client.list(VOLUMES)]);
  const made = new Set(volumes.items.map(({ metadata }) => metadata.name));
  await Promise.all([
    ...claims.items.filter((claim) => isOpen(claim) && !made.has(nameOf(claim))).map(provision),
    ...volumes.items.filter(isReleased).map(reclaim),
  ]);

  async function provision(claim: KubeObject): Promise<void> {
    await node.run('mkdir', '-p', `${VOLUMES_FOLDER}/${nameOf(claim)}`);
    await client.create(VOLUMES, volumeOf(claim, node.name));
  }

  async function reclaim({ metadata: { name, uid = '' } }: KubeObject): Promise<void> {
    await node.run('rm', '-rf', `${VOLUMES_FOLDER}/${name}`);
    await client.delete(VOLUMES, { name }, { uid });
  }
}

/** Whether the volume controller has handed the claim to this provisioner, and it has no volume yet. */
function isOpen(claim: KubeObject): boolean {
  const asked = claim.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] === PROVISIONER;
  return (
    asked &&
    textAt(claim, 'status', 'phase') === 'Pending' &&
    textAt(claim, 'spec', 'volumeName') === undefined
  );
}

function isReleased(volume: KubeObject): boolean {
  const isKept = textAt(volume, 'spec', 'persistentVolumeReclaimPolicy') === 'Retain';
  return textAt(volume, 'status', 'phase') === 'Released' && !isKept;
}

function nameOf({ metadata }: KubeObject): string {
  return `pvc-${metadata.uid}`;
}

function storageClass(): KubeObject {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: STORAGE_CLASS, annotations },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
  };
}

function retainingClass(): KubeObject {
  const { metadata: _, ...shared } = storageClass();
  return { ...shared, metadata: { name: RETAINING_CLASS }, reclaimPolicy: 'Retain' };
}

function volumeOf(claim: KubeObject, node: string): KubeObject {
  const { name, namespace, uid } = claim.metadata;
  const storageClassName = textAt(claim, 'spec', 'storageClassName') ?? STORAGE_CLASS;
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: nameOf(claim), annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      capacity: { storage: textAt(claim, 'spec', 'resources', 'requests', 'storage') ?? '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: storageClassName === RETAINING_CLASS ? 'Retain' : 'Delete',
      storageClassName,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      local: { path: `${VOLUMES_FOLDER}/${nameOf(claim)}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
    },
  };
}
