/** Builds the Jobs that read or write the data of an etcd: a container of kubenode, an etcd that opens a copy, and a container of kubenode that ends the pod. Pure. */
import { listAt, textAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../../kube/objects/object.ts';
import { createEtcdCommand, ETCD_HEALTH_PATH } from '../../../../../local/processes/commands.ts';
import type { EtcdMember } from '../../driver.ts';
import { memberLabels, planeNamespace, snapshotLabels } from '../names.ts';
import { ETCD_PKI_FOLDER, ETCD_VOLUME_FOLDER, PKI_FOLDER, withFlags } from '../objects/commands.ts';
import {
  CONTAINER_SECURITY,
  ETCD_CLIENT,
  POD_SECURITY,
  resourcesFor,
  secretVolume,
  TMP_VOLUME,
} from '../objects/pods.ts';
import { ETCD_HEALTH_PORT, ETCD_PORT } from '../ports.ts';

export const JOBS: Resource = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
};

/** The container that opens the copy. It ends with the pod. */
export const OPENING = 'etcd';
/** The container that serves the copy in a drill. */
export const SERVING = 'kube-apiserver';
export const SNAPSHOT_FOLDER = '/var/lib/snapshots';
/** The etcd that was started from the copy. */
export const OPENED_URL = `https://127.0.0.1:${ETCD_PORT}`;
/** 8 GiB are read and written three times. */
export const DEADLINE_SECONDS = 1800;
/** It copies in pieces of 1 MiB. */
const COPY_REQUESTS = { cpuMillis: 50, memoryMiB: 192 };
const OPEN_REQUESTS = { cpuMillis: 50, memoryMiB: 256 };

type Json = Readonly<Record<string, unknown>>;

/** The image of the etcd that runs, and that of kubenode. */
export interface JobImages {
  readonly etcd: string;
  readonly kubenode: string;
}

export interface EtcdJob {
  readonly cluster: string;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly priorityClass: string;
  /** The member of etcd on whose node its pod runs. Undefined: on any node. */
  readonly beside?: EtcdMember | undefined;
  /** In the order in which they are started. Those between the first and the last one run until the last one ends. */
  readonly containers: readonly [first: Json, opening: Json, ...rest: Json[]];
  /** The claims that it mounts. */
  readonly data: { readonly claimName: string; readonly readOnly?: boolean } | undefined;
  readonly snapshots: string;
  /** Volumes of the pod alone. */
  readonly volumes?: readonly Json[];
}

export function etcdJob(job: EtcdJob): KubeObject {
  const { cluster, name, annotations } = job;
  const labels = snapshotLabels(cluster);
  return {
    apiVersion: 'batch/v1',
    kind: JOBS.kind,
    metadata: { name, namespace: planeNamespace(cluster), labels, annotations },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: DEADLINE_SECONDS,
      template: { metadata: { labels }, spec: podSpec(job) },
    },
  };
}

/** Returns the images of the containers of a Job, in their order. */
export function jobImages(job: KubeObject): readonly (string | undefined)[] {
  const pod = ['spec', 'template', 'spec'] as const;
  const containers = [...listAt(job, ...pod, 'initContainers'), ...listAt(job, ...pod, 'containers')];
  return containers.map((container) => textAt(container, 'image'));
}

function podSpec({
  cluster,
  beside,
  priorityClass,
  containers,
  data,
  snapshots,
  volumes = [],
}: EtcdJob): Json {
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    priorityClassName: priorityClass,
    terminationGracePeriodSeconds: 5,
    securityContext: POD_SECURITY,
    ...(beside === undefined ? {} : { affinity: affinityTo(cluster, beside) }),
    initContainers: containers.slice(0, -1),
    containers: containers.slice(-1),
    volumes: [
      { name: 'pki', secret: secretVolume('etcd') },
      { name: 'client', secret: secretVolume(ETCD_CLIENT) },
      ...(data ? [{ name: 'data', persistentVolumeClaim: data }] : []),
      { name: 'snapshots', persistentVolumeClaim: { claimName: snapshots } },
      TMP_VOLUME,
      ...volumes,
    ],
  };
}

/** A volume that one node may write is mounted on that node only. */
function affinityTo(cluster: string, member: EtcdMember): Json {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: memberLabels(cluster, member) },
  };
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}

export const MOUNTS = {
  pki: { name: 'pki', mountPath: PKI_FOLDER, readOnly: true },
  client: { name: 'client', mountPath: ETCD_PKI_FOLDER, readOnly: true },
  data: { name: 'data', mountPath: ETCD_VOLUME_FOLDER },
  snapshots: { name: 'snapshots', mountPath: SNAPSHOT_FOLDER },
  tmp: { name: 'tmp', mountPath: '/tmp' },
} as const;

/** Returns how a container of kubenode asks an etcd, and where its snapshots are. */
export function placeArgs(url: string): readonly string[] {
  return [`--folder=${SNAPSHOT_FOLDER}`, `--pki=${ETCD_PKI_FOLDER}`, `--url=${url}`];
}

export function ownContainer(
  name: string,
  { kubenode }: JobImages,
  { args, mounts }: { readonly args: readonly string[]; readonly mounts: readonly Json[] },
): Json {
  return {
    name,
    image: kubenode,
    args: ['hosting', ...args],
    // Compiled code is kept beside other temporary files.
    env: [{ name: 'XDG_CACHE_HOME', value: '/tmp' }],
    resources: resourcesFor(COPY_REQUESTS),
    volumeMounts: [...mounts, MOUNTS.tmp],
    ...CONTAINER,
  };
}

const CONTAINER = {
  imagePullPolicy: 'IfNotPresent',
  securityContext: CONTAINER_SECURITY,
  terminationMessagePolicy: 'FallbackToLogsOnError',
};

/** Returns a container that runs until the last one ends. */
export function sidecar(
  name: string,
  program: { readonly image: string; readonly command: readonly string[]; readonly args: readonly string[] },
): Json {
  return { name, ...program, restartPolicy: 'Always', ...CONTAINER };
}

/** Runs beside the last container, and begins before it. Only containers of the pod reach it, and the kubelet its health. */
export function openingContainer(
  { etcd }: JobImages,
  { dataFolder, mount }: { readonly dataFolder: string; readonly mount: Json },
): Json {
  const { program, args } = createEtcdCommand((name) => name, {
    dataFolder,
    pkiFolder: PKI_FOLDER,
    port: ETCD_PORT,
    durable: false,
    alone: true,
  });
  const health = { 'listen-metrics-urls': `http://0.0.0.0:${ETCD_HEALTH_PORT}` };
  return {
    ...sidecar(OPENING, { image: etcd, command: [program], args: withFlags(args, health) }),
    startupProbe: {
      httpGet: { path: ETCD_HEALTH_PATH, port: ETCD_HEALTH_PORT, scheme: 'HTTP' },
      periodSeconds: 1,
      timeoutSeconds: 10,
      failureThreshold: 300,
    },
    resources: resourcesFor(OPEN_REQUESTS),
    volumeMounts: [MOUNTS.pki, mount, MOUNTS.tmp],
  };
}
