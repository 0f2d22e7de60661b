/**
 * Builds the Job that takes a snapshot of etcd, and the claim of the volume that keeps it. Its pod copies the data on the node of etcd, opens the
 * copy with the etcd that runs, and counts its keys; only then the Job succeeds. Pure.
 */
import { listAt, textAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../../kube/objects/object.ts';
import { createEtcdCommand, ETCD_HEALTH_PATH } from '../../../../../local/processes/commands.ts';
import type { EtcdMember } from '../../driver.ts';
import { SNAPSHOT_COPY } from '../../etcd/snapshot-steps.ts';
import { ANNOTATION_TAKEN_AT, memberLabels, planeNamespace, SNAPSHOT, snapshotLabels } from '../names.ts';
import { ETCD_PKI_FOLDER, ETCD_VOLUME_FOLDER, PKI_FOLDER, withFlags } from '../objects/commands.ts';
import {
  CONTAINER_SECURITY,
  ETCD_CLIENT,
  POD_SECURITY,
  resourcesFor,
  secretVolume,
  TMP_VOLUME,
} from '../objects/pods.ts';
import { ETCD_HEALTH_PORT, ETCD_PORT, urlOf } from '../ports.ts';

export const JOBS: Resource = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
};

/** The container that opens the copy. It ends with the pod. */
export const OPENING = 'etcd';
const SNAPSHOT_FOLDER = '/var/lib/snapshots';
/** 8 GiB are read and written three times. */
const DEADLINE_SECONDS = 1800;
/** It copies in pieces of 1 MiB. */
const COPY_REQUESTS = { cpuMillis: 50, memoryMiB: 192 };
const OPEN_REQUESTS = { cpuMillis: 50, memoryMiB: 256 };

type Json = Readonly<Record<string, unknown>>;

export interface SnapshotParts {
  readonly cluster: string;
  /** The member of etcd that is copied, and its address. */
  readonly member: EtcdMember;
  readonly address: string;
  readonly takenAt: Date;
  /** The image of the etcd that runs, and that of kubenode. */
  readonly images: { readonly etcd: string; readonly kubenode: string };
  readonly versions: { readonly etcd: string; readonly kubernetes: string };
  readonly priorityClass: string;
}

export function snapshotJob(parts: SnapshotParts): KubeObject {
  const { cluster, takenAt } = parts;
  const labels = snapshotLabels(cluster);
  return {
    apiVersion: 'batch/v1',
    kind: JOBS.kind,
    metadata: {
      name: SNAPSHOT,
      namespace: planeNamespace(cluster),
      labels,
      annotations: { [ANNOTATION_TAKEN_AT]: takenAt.toISOString() },
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: DEADLINE_SECONDS,
      template: { metadata: { labels }, spec: podSpec(parts) },
    },
  };
}

/** Returns the images of the containers of a Job, in their order. */
export function jobImages(job: KubeObject): readonly (string | undefined)[] {
  const pod = ['spec', 'template', 'spec'] as const;
  const containers = [...listAt(job, ...pod, 'initContainers'), ...listAt(job, ...pod, 'containers')];
  return containers.map((container) => textAt(container, 'image'));
}

function podSpec(parts: SnapshotParts): Json {
  const { cluster, member, priorityClass } = parts;
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    priorityClassName: priorityClass,
    terminationGracePeriodSeconds: 5,
    securityContext: POD_SECURITY,
    affinity: beside(cluster, member),
    initContainers: [copyContainer(parts), openingContainer(parts)],
    containers: [verifyContainer(parts)],
    volumes: [
      { name: 'pki', secret: secretVolume('etcd') },
      { name: 'client', secret: secretVolume(ETCD_CLIENT) },
      // Read only, so that nothing about the volume of the etcd that serves is changed.
      { name: 'data', persistentVolumeClaim: { claimName: member, readOnly: true } },
      { name: 'snapshots', persistentVolumeClaim: { claimName: SNAPSHOT } },
      TMP_VOLUME,
    ],
  };
}

/** A volume that one node may write is mounted on that node only. */
function beside(cluster: string, member: EtcdMember): Json {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: memberLabels(cluster, member) },
  };
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}

const MOUNTS = {
  pki: { name: 'pki', mountPath: PKI_FOLDER, readOnly: true },
  client: { name: 'client', mountPath: ETCD_PKI_FOLDER, readOnly: true },
  data: { name: 'data', mountPath: ETCD_VOLUME_FOLDER, readOnly: true },
  snapshots: { name: 'snapshots', mountPath: SNAPSHOT_FOLDER },
  tmp: { name: 'tmp', mountPath: '/tmp' },
} as const;

function copyContainer(parts: SnapshotParts): Json {
  const { cluster, address, versions } = parts;
  const args = [
    'copy',
    `--data=${ETCD_VOLUME_FOLDER}/data`,
    `--cluster=${cluster}`,
    `--etcd-version=${versions.etcd}`,
    `--kubernetes-version=${versions.kubernetes}`,
    ...placeArgs(urlOf(address, ETCD_PORT)),
  ];
  return ownContainer('copy', parts, { args, mounts: [MOUNTS.client, MOUNTS.data] });
}

function verifyContainer(parts: SnapshotParts): Json {
  const args = ['verify', ...placeArgs(`https://127.0.0.1:${ETCD_PORT}`)];
  return ownContainer('verify', parts, { args, mounts: [MOUNTS.client] });
}

function placeArgs(url: string): readonly string[] {
  return [`--folder=${SNAPSHOT_FOLDER}`, `--pki=${ETCD_PKI_FOLDER}`, `--url=${url}`];
}

function ownContainer(
  name: string,
  { images }: SnapshotParts,
  { args, mounts }: { readonly args: readonly string[]; readonly mounts: readonly Json[] },
): Json {
  return {
    name,
    image: images.kubenode,
    args: ['hosting', 'snapshot', ...args],
    // Compiled code is kept beside other temporary files.
    env: [{ name: 'XDG_CACHE_HOME', value: '/tmp' }],
    resources: resourcesFor(COPY_REQUESTS),
    volumeMounts: [...mounts, MOUNTS.snapshots, MOUNTS.tmp],
    ...CONTAINER,
  };
}

const CONTAINER = {
  imagePullPolicy: 'IfNotPresent',
  securityContext: CONTAINER_SECURITY,
  terminationMessagePolicy: 'FallbackToLogsOnError',
};

/** Runs beside the last container, and begins before it. Only containers of the pod reach it, and the kubelet its health. */
function openingContainer({ images }: SnapshotParts): Json {
  const { program, args } = createEtcdCommand((name) => name, {
    dataFolder: `${SNAPSHOT_FOLDER}/${SNAPSHOT_COPY}`,
    pkiFolder: PKI_FOLDER,
    port: ETCD_PORT,
    durable: false,
    alone: true,
  });
  return {
    name: OPENING,
    image: images.etcd,
    command: [program],
    args: withFlags(args, { 'listen-metrics-urls': `http://0.0.0.0:${ETCD_HEALTH_PORT}` }),
    restartPolicy: 'Always',
    startupProbe: {
      httpGet: { path: ETCD_HEALTH_PATH, port: ETCD_HEALTH_PORT, scheme: 'HTTP' },
      periodSeconds: 1,
      timeoutSeconds: 10,
      failureThreshold: 300,
    },
    resources: resourcesFor(OPEN_REQUESTS),
    volumeMounts: [MOUNTS.pki, MOUNTS.snapshots, MOUNTS.tmp],
    ...CONTAINER,
  };
}
