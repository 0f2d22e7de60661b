/** A hub for the driver of pods: a real API server with the controllers that make pods of workloads, and a stand-in for their kubelet. */
import { expect } from 'vitest';
import { PRINCIPAL_HOSTING, serviceAccountUser } from '../../../src/api/names.ts';
import type {
  PlaneDriver,
  PlaneMember,
  PlaneOwner,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import { createWorkloadDriver } from '../../../src/controllers/hosting/drivers/workload/driver.ts';
import type { WorkloadImages } from '../../../src/controllers/hosting/drivers/workload/images.ts';
import {
  ANNOTATION_OWNER_UID,
  KEYS_SECRET,
  planeNamespace,
  RECORD,
} from '../../../src/controllers/hosting/drivers/workload/names.ts';
import {
  VOLUME_CLAIMS,
  volumeClaim,
} from '../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import { KEY_FILES, type KeyFiles } from '../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import { keyFilesOf, keysObject } from '../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { unlessMissing } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS, NAMESPACES, PODS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { ObjectName, Resource } from '../../../src/kube/objects/object.ts';
import {
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
} from '../../../src/local/pki/certificate.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../../cluster/api/installed-server.ts';
import { startControllerManager } from '../controller-manager.ts';
import type { DriverBed, LeafFile, PlaneFaults, Surroundings } from './contract/faults.ts';
import { type PodPlayer, playPods } from './pod-player.ts';
import { IMAGE, workloadImages } from './workload.ts';

const CONTROLLERS = [
  'serviceaccount-controller',
  'namespace-controller',
  'garbage-collector-controller',
  'statefulset-controller',
  'deployment-controller',
  'replicaset-controller',
  'job-controller',
  'persistentvolumeclaim-protection-controller',
];
const AWAY = { interval: 100 };

export interface Hub {
  readonly client: Client;
  /** Connected as kubenode-hosting, with its installed rights. */
  readonly hosting: Client;
  readonly installed: InstalledServer;
  readonly player: PodPlayer;
  readonly stop: () => Promise<void>;
}

export async function startHub(): Promise<Hub> {
  const installed = await startInstalledServer();
  const stopManager = await startControllerManager(installed.server, CONTROLLERS, [
    '--namespace-sync-period=5s',
  ]);
  const { client } = installed.server;
  const player = playPods(client);
  const { user, groups } = createPrincipal(PRINCIPAL_HOSTING);
  expect(user).toBe(serviceAccountUser(PRINCIPAL_HOSTING));
  const hosting = await installed.as(user, groups);
  return {
    client,
    hosting,
    installed,
    player,
    stop: async () => {
      await player.stop();
      await stopManager();
      await installed.stop();
    },
  };
}

function imagesFor({ programs }: Surroundings): () => Promise<WorkloadImages> {
  return async () => {
    if (programs instanceof Error) throw programs;
    return workloadImages(programs);
  };
}

let beds = 0;

/** Each bed has control planes of its own names: a namespace takes seconds to be deleted. */
export async function openHubBed(hub: Hub): Promise<DriverBed> {
  beds += 1;
  const suffix = `-${beds}`;
  const real = createSystemClock();
  let days = 0;
  const now = (): Date => new Date(+real.now() + days * 86_400_000);
  const clock: Clock = { ...real, now };
  const open = (surroundings: Surroundings = {}): PlaneDriver => {
    const driver = createWorkloadDriver({ client: hub.hosting, clock, images: imagesFor(surroundings) });
    return renamed(driver, suffix);
  };
  return {
    driver: open(),
    reopen: async (surroundings) => open(surroundings),
    faults: hubFaults(hub, `ci${suffix}`),
    now,
    travel: (to) => {
      days = to;
    },
    close: async () => {
      for (const name of ['ci', 'ci-2', 'other']) await deleteNamespace(hub.client, `${name}${suffix}`);
    },
  };
}

function renamed(driver: PlaneDriver, suffix: string): PlaneDriver {
  const to = <T extends PlaneOwner>(plane: T): T => ({ ...plane, name: `${plane.name}${suffix}` });
  return {
    observe: (plane, signal) => driver.observe(to(plane), signal),
    prepare: (plane) => driver.prepare(to(plane)),
    start: (plane, member) => driver.start(to(plane), member),
    stop: (plane, member) => driver.stop(to(plane), member),
    change: (plane, member, run) => driver.change(to(plane), member, run),
    correct: async (plane, member) => driver.correct?.(to(plane), member),
    restart: async (plane, member) => driver.restart?.(to(plane), member),
    rotate: async (plane, step) => driver.rotate?.(to(plane), step),
    signAuthorities: async (plane, known) => driver.signAuthorities?.(to(plane), known),
    setApiServers: (plane, count) => driver.setApiServers(to(plane), count),
    addEtcdMember: (plane, member) => driver.addEtcdMember(to(plane), member),
    promoteEtcdMember: (plane, member) => driver.promoteEtcdMember(to(plane), member),
    removeEtcdMember: (plane, member) => driver.removeEtcdMember(to(plane), member),
    snapshot: (plane) => driver.snapshot(to(plane)),
    settle: (plane, settled) => driver.settle(to(plane), settled),
    beginDestroy: (plane) => driver.beginDestroy(to(plane)),
    remove: (plane) => driver.remove(to(plane)),
    access: (plane) => driver.access(to(plane)),
  };
}

export async function deleteNamespace(client: Client, cluster: string): Promise<void> {
  const name = planeNamespace(cluster);
  const found = await unlessMissing(client.get(NAMESPACES, { name }));
  if (found) await client.delete(NAMESPACES, { name }, { uid: found.metadata.uid ?? '' });
}

async function deleteAndWait(client: Client, resource: Resource, name: ObjectName): Promise<void> {
  const found = await client.get(resource, name);
  await client.delete(resource, name, { uid: found.metadata.uid ?? '' });
  const left = async (): Promise<string | undefined> =>
    (await unlessMissing(client.get(resource, name)))?.metadata.uid;
  await expect.poll(left, AWAY).not.toBe(found.metadata.uid);
}

const LEAF_FILES: Readonly<Record<LeafFile, string>> = {
  etcd: 'etcd.etcd.pem',
  apiserver: 'cluster.apiserver.pem',
  sync: 'cluster.sync.pem',
  admin: 'cluster.admin.pem',
};

function notOfPods(): never {
  throw new Error('not a fault of pods');
}

function hubFaults({ client, player }: Hub, cluster: string): PlaneFaults {
  const namespace = planeNamespace(cluster);
  const volume = { name: 'etcd', namespace };
  const edit = async (change: (files: KeyFiles) => KeyFiles): Promise<void> => {
    const found = await client.get(SECRETS, { name: KEYS_SECRET, namespace });
    const after = keysObject(cluster, change(keyFilesOf(found)), found.metadata.resourceVersion);
    await client.replace(SECRETS, after, { fieldManager: 'by-hand' });
  };
  return {
    kill: async (member) => deleteAndWait(client, PODS, await podOf(client, namespace, member)),
    wipeData: () => deleteAndWait(client, VOLUME_CLAIMS, volume),
    wipeFolder: () => deleteAndWait(client, NAMESPACES, { name: namespace }),
    bringData: async () => {
      await deleteAndWait(client, VOLUME_CLAIMS, volume);
      const other = volumeClaim(
        { name: cluster, uid: 'uid-other' },
        { storageGiB: 1, storageClass: undefined },
      );
      expect(other.metadata.annotations?.[ANNOTATION_OWNER_UID]).toBe('uid-other');
      await client.create(VOLUME_CLAIMS, other, { fieldManager: 'by-hand' });
    },
    loseKey: async (key) => {
      const file = KEY_FILES[key];
      const before = keyFilesOf(await client.get(SECRETS, { name: KEYS_SECRET, namespace }))[file] ?? '';
      await edit((files) => Object.fromEntries(Object.entries(files).filter(([name]) => name !== file)));
      return () => edit((files) => ({ ...files, [file]: before }));
    },
    replaceKey: (key) =>
      edit((files) => {
        const { certPem, keyPem } = createAuthority('by hand', createSystemClock().now(), 1);
        const other = key === 'service-accounts' ? createServiceAccountKey() : certPem + keyPem;
        return { ...files, [KEY_FILES[key]]: other };
      }),
    damageCertificate: (leaf) =>
      edit((files) => {
        const text = files[LEAF_FILES[leaf]] ?? '';
        return { ...files, [LEAF_FILES[leaf]]: text.slice(0, text.length / 2) };
      }),
    forgeCertificate: (leaf) =>
      edit((files) => {
        // As old as those that it takes the place of.
        const now = new Date(+createSystemClock().now() - 300 * 86_400_000);
        const request = { subject: { commonName: leaf }, usage: 'peer', now, seconds: 365 * 86_400 } as const;
        const { certPem, keyPem } = issueCertificate(createAuthority('by hand', now, 3650), request);
        return { ...files, [LEAF_FILES[leaf]]: certPem + keyPem };
      }),
    damageRecord: async () => {
      const body = { data: { 'record.json': '{' } };
      await client.patch(CONFIG_MAPS, { name: RECORD, namespace }, { type: 'merge', body });
    },
    impersonate: async () => {
      const name = 'similar';
      const pod = await podOf(client, namespace, 'etcd').catch(() => undefined);
      expect(pod).toBeUndefined();
      await client.create(PODS, similarPod(namespace, name));
      await expect.poll(() => player.isPlayed(namespace, name), AWAY).toBe(true);
      return () => player.isPlayed(namespace, name);
    },
    breakEtcd: notOfPods,
    takePort: notOfPods,
    openRights: notOfPods,
    openEntries: notOfPods,
    growLog: notOfPods,
    logBytes: notOfPods,
  };
}

export async function podOf(client: Client, namespace: string, member: PlaneMember): Promise<ObjectName> {
  const { items } = await client.list(PODS, { namespace, labelSelector: `kubenode.dev/part=${member}` });
  const [pod] = items;
  if (!pod) throw new Error(`no pod of ${member} in ${namespace}`);
  return { name: pod.metadata.name, namespace };
}

/** With the labels of etcd, and made by no workload. */
function similarPod(namespace: string, name: string): Parameters<Client['create']>[1] {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { 'kubenode.dev/part': 'etcd', 'kubenode.dev/cluster': namespace.slice(3) },
    },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'main',
          image: IMAGE,
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
