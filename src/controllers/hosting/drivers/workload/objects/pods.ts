/** Builds the pod of a member: no root, no token, nothing writable but what it needs, and its own keys only. Pure. */
import { optional } from '../../../../../kube/objects/optional.ts';
import { ETCD_HEALTH_PATH } from '../../../../../local/processes/commands.ts';
import { API_SERVERS, isApiServer, isEtcdMember, isRunMember } from '../../driver.ts';
import { containerDigest } from '../members/templates.ts';
import {
  ANNOTATION_CONTAINER,
  ANNOTATION_RUN,
  ANNOTATION_VERSION,
  etcdMembersOf,
  etcdSelector,
  memberLabels,
  roleOf,
  type WorkloadMember,
  type WorkloadRole,
} from '../names.ts';
import type { PlaneAddresses, WorkloadPlane } from '../plane.ts';
import { CONTROLLERS_PORT, ETCD_HEALTH_PORT, ETCD_PEER_PORT, memberPort } from '../ports.ts';
import { ETCD_PKI_FOLDER, ETCD_VOLUME_FOLDER, memberCommand, PKI_FOLDER } from './commands.ts';

/** The user of our own image. Those of Kubernetes run as any user. */
const RUN_AS = 1000;
/** Readable by the group, which is that of the pod. */
const KEY_MODE = 0o440;
const TMP = '256Mi';
export const TMP_VOLUME = { name: 'tmp', emptyDir: { sizeLimit: TMP } };

type Json = Readonly<Record<string, unknown>>;

export interface ResourceRequests {
  readonly cpuMillis: number;
  readonly memoryMiB: number;
}

/** The requests of a member for which the spec chooses none. An idle etcd takes 119 MB, and an idle API server 292 MB (bench/hosting). */
const REQUESTS: Readonly<Record<WorkloadRole, ResourceRequests>> = {
  etcd: { cpuMillis: 100, memoryMiB: 256 },
  'kube-apiserver': { cpuMillis: 200, memoryMiB: 512 },
  'kube-controller-manager': { cpuMillis: 50, memoryMiB: 128 },
  'kube-scheduler': { cpuMillis: 25, memoryMiB: 64 },
  'kubenode-controllers': { cpuMillis: 50, memoryMiB: 256 },
};
/** A tenant that fills its API server must not take the memory of its neighbors. */
const LIMIT_FACTOR = 4;

export interface PodParts {
  readonly plane: WorkloadPlane;
  readonly image: string;
  readonly priorityClass: string;
  readonly addresses: PlaneAddresses;
  /** The version of its program. */
  readonly version?: string | undefined;
  /** The digest of what it is made from. */
  readonly run: string;
}

/** A pod carries what it was made from, so that what runs is read from the pods that run. */
export function podTemplate(member: WorkloadMember, parts: PodParts): Json {
  const { plane, image, priorityClass, addresses, version, run } = parts;
  const labels = memberLabels(plane.cluster, member);
  const { args, command } = memberCommand(member, { plane, addresses, version });
  const program = { image, ...(command ? { command } : {}), args };
  const annotations = {
    [ANNOTATION_RUN]: run,
    [ANNOTATION_CONTAINER]: containerDigest(program),
    ...optional(ANNOTATION_VERSION, version),
  };
  return {
    metadata: { labels, annotations },
    spec: {
      // Nothing in it may call the hub.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      priorityClassName: priorityClass,
      terminationGracePeriodSeconds: ENDS_IN_SECONDS[roleOf(member)],
      securityContext: POD_SECURITY,
      affinity: antiAffinity(plane, member),
      ...(isApiServer(member) ? zoneSpread(plane) : {}),
      containers: [
        {
          name: roleOf(member),
          ...program,
          imagePullPolicy: 'IfNotPresent',
          // Compiled code is kept beside other temporary files.
          ...(isRunMember(member) ? {} : { env: [{ name: 'XDG_CACHE_HOME', value: '/tmp' }] }),
          ports: portsOf(member, plane),
          ...probesOf(member, plane),
          resources: resourcesOf(member, plane),
          securityContext: containerSecurity(member),
          // The end of the log of a container that failed is in the status of its pod.
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: mountsOf(member),
        },
      ],
      volumes: volumesOf(member),
    },
  };
}

/** The data of etcd belong to this user, so that only its own pods can read them. */
export const POD_SECURITY: Json = {
  runAsNonRoot: true,
  runAsUser: RUN_AS,
  runAsGroup: RUN_AS,
  fsGroup: RUN_AS,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

/** etcd writes what it has accepted, and an API server answers what it was asked; the others have nothing to finish. */
const ENDS_IN_SECONDS: Readonly<Record<WorkloadRole, number>> = {
  etcd: 10,
  'kube-apiserver': 15,
  'kube-controller-manager': 5,
  'kube-scheduler': 5,
  'kubenode-controllers': 5,
};

export const CONTAINER_SECURITY: Json = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** The file of kube-apiserver has this capability, and does not start in a container that may not have it. */
function containerSecurity(member: WorkloadMember): Json {
  if (!isApiServer(member)) return CONTAINER_SECURITY;
  return { ...CONTAINER_SECURITY, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } };
}

/** Members of one kind are on different nodes where there are several. */
function antiAffinity(plane: WorkloadPlane, member: WorkloadMember): Json {
  const { cluster } = plane;
  const podAffinityTerm = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: isEtcdMember(member)
      ? etcdSelector(cluster, etcdMembersOf(plane))
      : { matchLabels: memberLabels(cluster, roleOf(member)) },
  };
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }],
    },
  };
}

/**
 * API servers are in different zones where there are several. Neither this nor the affinity is required: a hub with one node has to run all of
 * them, and an API server beside another one is better than one that waits for a node.
 */
function zoneSpread({ cluster }: WorkloadPlane): Json {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'topology.kubernetes.io/zone',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: memberLabels(cluster, API_SERVERS[0]) },
  };
  return { topologySpreadConstraints: [constraint] };
}

function portsOf(member: WorkloadMember, plane: WorkloadPlane): readonly Json[] {
  const port = {
    name: 'main',
    containerPort: memberPort(member, plane.placement.exposure.port),
    protocol: 'TCP',
  };
  if (!isEtcdMember(member)) return [port];
  const health = { name: 'health', containerPort: ETCD_HEALTH_PORT, protocol: 'TCP' };
  if (etcdMembersOf(plane).length === 1) return [port, health];
  return [port, health, { name: 'peer', containerPort: ETCD_PEER_PORT, protocol: 'TCP' }];
}

interface Health {
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly port: number;
  readonly ready: string;
  readonly live: string;
}

function healthOf(member: WorkloadMember, { placement }: WorkloadPlane): Health {
  if (isEtcdMember(member)) {
    const live = `${ETCD_HEALTH_PATH}&serializable=true`;
    return { scheme: 'HTTP', port: ETCD_HEALTH_PORT, ready: ETCD_HEALTH_PATH, live };
  }
  if (member === 'kubenode-controllers') {
    return { scheme: 'HTTP', port: CONTROLLERS_PORT, ready: '/readyz', live: '/healthz' };
  }
  const port = memberPort(member, placement.exposure.port);
  if (isApiServer(member)) return { scheme: 'HTTPS', port, ready: '/readyz', live: '/livez' };
  return { scheme: 'HTTPS', port, ready: '/healthz', live: '/healthz' };
}

/** Started within four minutes; restarted after a minute and a half without an answer, as kubeadm does. */
function probesOf(member: WorkloadMember, plane: WorkloadPlane): Json {
  const { scheme, port, ready, live } = healthOf(member, plane);
  const get = (path: string): Json => ({ httpGet: { path, port, scheme } });
  return {
    startupProbe: { ...get(live), periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 120 },
    livenessProbe: { ...get(live), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 9 },
    readinessProbe: { ...get(ready), periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 3 },
  };
}

export function requestsOf(member: WorkloadMember, { placement }: WorkloadPlane): ResourceRequests {
  const chosen = isRunMember(member) ? placement.requests[member] : undefined;
  const { cpuMillis, memoryMiB } = REQUESTS[roleOf(member)];
  return { cpuMillis: chosen?.cpuMillis ?? cpuMillis, memoryMiB: chosen?.memoryMiB ?? memoryMiB };
}

function resourcesOf(member: WorkloadMember, plane: WorkloadPlane): Json {
  return resourcesFor(requestsOf(member, plane));
}

export function resourcesFor({ cpuMillis, memoryMiB }: ResourceRequests): Json {
  return {
    requests: { cpu: `${cpuMillis}m`, memory: `${memoryMiB}Mi`, 'ephemeral-storage': '32Mi' },
    limits: { memory: `${memoryMiB * LIMIT_FACTOR}Mi`, 'ephemeral-storage': '512Mi' },
  };
}

function mountsOf(member: WorkloadMember): readonly Json[] {
  const pki = { name: 'pki', mountPath: PKI_FOLDER, readOnly: true };
  const tmp = { name: 'tmp', mountPath: '/tmp' };
  if (isEtcdMember(member)) return [pki, tmp, { name: 'data', mountPath: ETCD_VOLUME_FOLDER }];
  if (isApiServer(member)) {
    return [pki, tmp, { name: 'etcd', mountPath: ETCD_PKI_FOLDER, readOnly: true }];
  }
  return [pki, tmp];
}

function volumesOf(member: WorkloadMember): readonly Json[] {
  const pki = { name: 'pki', secret: secretVolume(roleOf(member)) };
  const tmp = TMP_VOLUME;
  if (isEtcdMember(member)) {
    return [pki, tmp, { name: 'data', persistentVolumeClaim: { claimName: member } }];
  }
  if (isApiServer(member)) return [pki, tmp, { name: 'etcd', secret: secretVolume(ETCD_CLIENT) }];
  return [pki, tmp];
}

export function secretVolume(secretName: string): Json {
  return { secretName, defaultMode: KEY_MODE };
}

/** The Secret with which the API server is a client of etcd. */
export const ETCD_CLIENT = 'etcd-client';
