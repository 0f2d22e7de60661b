/**
 * A hub in memory for control planes of pods: an API server, and what its controllers and a kubelet do with workloads. The real driver and the
 * real controller of hosting run on it. Programs are not started: each pod answers after a moment, unless its program has a fault.
 */
import type { AuthoritiesDocument, SignedAuthorities } from '../../../src/api/authorities/document.ts';
import type { ClusterHostedStatus } from '../../../src/api/generated/types.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import { API_SERVERS } from '../../../src/controllers/hosting/drivers/driver.ts';
import { taskOf } from '../../../src/controllers/hosting/drivers/workload/backup/job.ts';
import { createWorkloadDriver } from '../../../src/controllers/hosting/drivers/workload/driver.ts';
import type { WorkloadImages } from '../../../src/controllers/hosting/drivers/workload/images.ts';
import {
  ANNOTATION_VERSION,
  memberOfLabels,
  planeNamespace,
} from '../../../src/controllers/hosting/drivers/workload/names.ts';
import {
  DISRUPTION_BUDGETS,
  ROLE_BINDINGS,
  VOLUME_CLAIMS,
} from '../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import {
  NETWORK_POLICIES,
  SERVICES,
} from '../../../src/controllers/hosting/drivers/workload/objects/network.ts';
import {
  DEPLOYMENTS,
  STATEFUL_SETS,
} from '../../../src/controllers/hosting/drivers/workload/objects/workloads.ts';
import { JOBS } from '../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import { OTHER_KEY } from '../../../src/controllers/hosting/execute/token-canary.ts';
import type { ClusterInside } from '../../../src/controllers/hosting/inside/execute.ts';
import { CONFIG_MAPS, NAMESPACES, PODS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { canonicalJson, digestOf } from '../../../src/kube/objects/digest.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { type ControllerBed, createControllerBed } from '../controller/bed.ts';
import { ledgerOf, type MemoryGrants, memoryGrants } from '../memory-grants.ts';
import { found, KINDS } from './bed.ts';
import { type MemoryHubAuthorities, memoryHubAuthorities } from './memory-hub-authorities.ts';
import { endBackupJob, type MemoryHubBackups } from './memory-hub-backups.ts';
import { type MemoryHubEtcd, memoryHubEtcd } from './memory-hub-etcd.ts';
import { WITHOUT_DATA } from './pod-player.ts';

const HUB_KINDS: readonly Resource[] = [
  NAMESPACES,
  CONFIG_MAPS,
  SERVICES,
  VOLUME_CLAIMS,
  NETWORK_POLICIES,
  DISRUPTION_BUDGETS,
  ROLE_BINDINGS,
  STATEFUL_SETS,
  DEPLOYMENTS,
  JOBS,
  PODS,
];
const NAMESPACE = planeNamespace('ci');
const BY_HUB = { manager: 'hub', force: true };
const ADDRESSES: Readonly<Record<string, string>> = {
  etcd: '10.0.0.2',
  'kube-apiserver': '10.0.0.3',
  'etcd-1': '10.0.0.4',
  'etcd-2': '10.0.0.5',
  'etcd-3': '10.0.0.6',
  'etcd-4': '10.0.0.7',
};
const TICK_MS = 100;
/** A pod answers this long after it was created. */
const READY_MS = 300;

/**
 * `refuses`: it answers, and takes no writes. `unreachable`: it is ready, and hosting does not reach its address. `unaddressed`: it is ready, and
 * has no address.
 */
export type PodFault = 'crashes' | 'hangs' | 'refuses' | 'unreachable' | 'unaddressed';

export interface MemoryHub extends ControllerBed {
  readonly grants: MemoryGrants;
  /** What was made, in its order: `kube-apiserver v1.36.3 as 1.35`. */
  readonly log: ControllerBed['log'];
  readonly made: string[];
  /** By member and version, by the image of our own controllers, or `etcd-snapshot`: `kube-apiserver v1.36.3`. */
  readonly faults: Map<string, PodFault>;
  /** The file of images. */
  images: WorkloadImages;
  /** The times at which no API server answered, in steps. */
  silentSteps: number;
  readonly etcd: MemoryHubEtcd;
  readonly authorities: MemoryHubAuthorities;
  readonly backups: MemoryHubBackups;
  /** The times at which etcd had no majority, in steps. */
  etcdSilentSteps: number;
  /** The most pods of one member that lived at once. */
  readonly most: Map<string, number>;
  readonly pods: (member: string) => readonly KubeObject[];
  readonly workload: (member: string) => KubeObject;
  /** A person edits a workload. */
  readonly edit: (member: string, change: (spec: Record<string, unknown>) => void) => void;
  /** The kubelet evicts the pods of a Deployment. They stay as objects. */
  readonly evict: (member: string) => void;
  readonly status: () => ClusterHostedStatus | undefined;
}

export function memoryHub(objects: readonly KubeObject[], images: WorkloadImages): MemoryHub {
  const grants = memoryGrants({ now: () => bed.clock.now() });
  const inside: InsideState = { isInstalled: false };
  const bed: ControllerBed = createControllerBed({
    controllers: (client) => [
      createHostingController({
        grants,
        maxClusters: 20,
        maxAgeSeconds: 691_200,
        workload: createWorkloadDriver({
          client,
          clock: bed.clock,
          images: async () => hub.images,
          asking: hub.etcd.asking,
          probe: async (asked) => hub.authorities.probe(asked),
          prove: async (places) => hub.authorities.prove(places),
        }),
        inside: insideOf(() => hub, inside),
        addons: {
          read: async () => ({ installed: [], hasNodes: false }),
          apply: async () => undefined,
          remove: async () => undefined,
        },
      }),
    ],
    kinds: [...KINDS, ...HUB_KINDS.map(servedKind)],
    objects,
  });
  grants.changed = (ledger) => bed.apply(ledgerOf(ledger));
  const played = playHub(bed, () => hub);
  const hub: MemoryHub = {
    ...bed,
    grants,
    made: [],
    faults: new Map(),
    images,
    silentSteps: 0,
    etcd: memoryHubEtcd(
      (member) => hub.pods(member).some(isReady),
      (line) => hub.made.push(line),
    ),
    authorities: memoryHubAuthorities((name) =>
      bed.api.objects.find(servedKind(SECRETS), { name, namespace: NAMESPACE }),
    ),
    backups: { names: [], losesReport: false, aheadMs: 0 },
    etcdSilentSteps: 0,
    most: new Map(),
    ...played,
    status: () => found(bed)?.status?.hosted,
  };
  return hub;
}

interface PlayedHub {
  readonly advance: ControllerBed['advance'];
  readonly pods: MemoryHub['pods'];
  readonly workload: MemoryHub['workload'];
  readonly edit: MemoryHub['edit'];
  readonly evict: MemoryHub['evict'];
}

function playHub(bed: ControllerBed, hubOf: () => MemoryHub): PlayedHub {
  const { objects } = bed.api;
  const pods = (member: string): readonly KubeObject[] =>
    objects
      .list(servedKind(PODS), NAMESPACE)
      .filter(({ metadata }) => memberOfLabels(metadata.labels) === member);
  /** The pods that the Service selects. */
  const servers = (): readonly KubeObject[] => API_SERVERS.flatMap(pods);
  const workload = (member: string): KubeObject => {
    const resource = member.startsWith('etcd') ? STATEFUL_SETS : DEPLOYMENTS;
    return objects.get(servedKind(resource), { name: member, namespace: NAMESPACE });
  };
  let next = 0;

  function play(): void {
    for (const service of objects.list(servedKind(SERVICES), NAMESPACE)) giveAddress(service);
    const sets = objects.list(servedKind(STATEFUL_SETS), NAMESPACE);
    for (const each of [...sets, ...objects.list(servedKind(DEPLOYMENTS), NAMESPACE)]) playWorkload(each);
    for (const pod of objects.list(servedKind(PODS), NAMESPACE).filter(isPlayed)) playPod(pod);
    for (const job of objects.list(servedKind(JOBS), NAMESPACE)) playJob(job);
    countSilence(hubOf());
  }

  function countSilence(hub: MemoryHub): void {
    const isMeant = pods('kube-scheduler').length > 0 || servers().length > 0;
    if (isMeant && !servers().some(isReady)) hub.silentSteps += 1;
    if (hub.etcd.list.size > 1 && !hub.etcd.isServing()) hub.etcdSilentSteps += 1;
  }

  function giveAddress(service: KubeObject): void {
    if (textAt(service, 'spec', 'clusterIP') !== undefined) return;
    const clusterIP = ADDRESSES[service.metadata.name];
    merge(SERVICES, service, { spec: { clusterIP } });
  }

  function merge(resource: Resource, { metadata }: KubeObject, body: object, subresource?: string): void {
    const { name, namespace = '' } = metadata;
    const options = subresource === undefined ? BY_HUB : { ...BY_HUB, subresource };
    objects.merge(servedKind(resource), { name, namespace }, (live) => merged(live, body), options);
  }

  function playWorkload(live: KubeObject): void {
    const { name } = live.metadata;
    const replicas = Number(valueAt(live, 'spec', 'replicas') ?? 1);
    const hash = hashOf(valueAt(live, 'spec', 'template') as object);
    const [current, others] = split(pods(name).filter(isActive), hash);
    const surges = valueAt(live, 'spec', 'strategy', 'type') === 'RollingUpdate';
    if (surges && replicas > 0) {
      if (current.some(isReady)) others.forEach(end);
      fill(live, hash, replicas - current.length);
    } else if (others.length > 0) others.forEach(end);
    else fill(live, hash, replicas - current.length);
    current.slice(replicas).forEach(end);
  }

  function fill(owner: KubeObject, hash: string, count: number): void {
    for (let index = 0; index < count; index += 1) createPod(owner, hash);
  }

  function end({ metadata: { name } }: KubeObject): void {
    objects.delete(servedKind(PODS), { name, namespace: NAMESPACE });
  }

  function createPod(owner: KubeObject, hash: string): void {
    const { name: member, uid = '' } = owner.metadata;
    const template = valueAt(owner, 'spec', 'template') as Pick<KubeObject, 'metadata'>;
    next += 1;
    const isSet = owner.kind === 'StatefulSet';
    const controller = isSet
      ? { kind: 'StatefulSet', name: member, uid }
      : { kind: 'ReplicaSet', name: `${member}-${hash}`, uid: `${uid}-${hash}` };
    const { labels, annotations } = template.metadata;
    const metadata = {
      name: `${member}-${hash}-${next}`,
      namespace: NAMESPACE,
      labels: { ...labels, hash },
      annotations,
      ownerReferences: [{ apiVersion: 'apps/v1', controller: true, ...controller }],
    };
    const { spec } = structuredClone(template) as unknown as { spec: object };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubeObject;
    objects.create(servedKind(PODS), pod, BY_HUB);
    const hub = hubOf();
    hub.made.push(programOf(pod));
    hub.authorities.start(pod);
    hub.most.set(member, Math.max(hub.most.get(member) ?? 0, pods(member).length));
  }

  function playPod(pod: KubeObject): void {
    const now = bed.clock.now();
    if (isReady(pod) || +now - Date.parse(pod.metadata.creationTimestamp ?? '') < READY_MS) return;
    const fault = hubOf().faults.get(faultKey(pod));
    if (fault === 'hangs') return;
    const status = statusOf(pod, fault, now);
    if (canonicalJson(pod['status']) !== canonicalJson(status)) merge(PODS, pod, { status }, 'status');
  }

  /** An etcd with several members starts by what it has in its volume. */
  function statusOf(pod: KubeObject, fault: PodFault | undefined, now: Date): object {
    const claim = textAt(
      listAt(pod, 'spec', 'volumes').find((volume) => textAt(volume, 'name') === 'data'),
      'persistentVolumeClaim',
      'claimName',
    );
    const { etcd } = hubOf();
    const isSeveral = claim !== undefined && listAt(pod, 'spec', 'containers', 0, 'ports').length > 2;
    if (claim !== undefined && claimUid(claim) === undefined) return pending(now);
    const starts = !isSeveral || fault !== undefined || etcd.starts(pod, claimUid(claim));
    if (!starts) return crashed(now, WITHOUT_DATA);
    return playedStatus(pod, reachedFault(pod, fault), now);
  }

  /** Only API servers are asked by their own address, but in tests of what each member serves and trusts. */
  function reachedFault({ metadata }: KubeObject, fault: PodFault | undefined): PodFault | undefined {
    const isAsked = hubOf().authorities.isAsked || isApiServer(memberOfLabels(metadata.labels));
    return isAsked ? fault : (fault ?? 'unaddressed');
  }

  function claimUid(name: string): string | undefined {
    const claims = objects.list(servedKind(VOLUME_CLAIMS), NAMESPACE);
    return claims.find(({ metadata }) => metadata.name === name)?.metadata.uid;
  }

  /** Its pod is not played: hosting reads it only to tell why a Job does not end. */
  function playJob(job: KubeObject): void {
    const { name, creationTimestamp = '', deletionTimestamp } = job.metadata;
    if (deletionTimestamp !== undefined || valueAt(job, 'status', 'conditions') !== undefined) return;
    const fault = hubOf().faults.get(name);
    if (fault === 'hangs' || +bed.clock.now() - Date.parse(creationTimestamp) < READY_MS) return;
    const type = fault === 'crashes' || !endJob(job) ? 'Failed' : 'Complete';
    hubOf().made.push(`${name} ${type}`);
    merge(JOBS, job, { status: { conditions: [{ type, status: 'True', message: 'no copy' }] } }, 'status');
  }

  /** Returns whether it succeeds. */
  function endJob(job: KubeObject): boolean {
    const task = taskOf(job);
    if (task === undefined) return true;
    const { backups, etcd, made } = hubOf();
    const message = endBackupJob(job, { backups, now: bed.clock.now() });
    made.push(`${task} ${message === undefined ? 'failed' : 'ended'}`);
    if (!backups.losesReport) leaveReport(job, message);
    if (message === undefined) return false;
    if (task === 'Restore') etcd.restore(claimUid('etcd') ?? '');
    return true;
  }

  function leaveReport(job: KubeObject, message: string | undefined): void {
    next += 1;
    const pod = podOfJob(job, next);
    objects.create(servedKind(PODS), pod, BY_HUB);
    const ended = { exitCode: message === undefined ? 1 : 0, message };
    const containerStatuses = [{ name: 'last', state: { terminated: ended } }];
    merge(PODS, pod, { status: { phase: 'Succeeded', containerStatuses } }, 'status');
  }

  return {
    pods,
    workload,
    edit: (member, change) => {
      const edited = structuredClone(workload(member));
      change(edited['spec'] as Record<string, unknown>);
      const resource = member.startsWith('etcd') ? STATEFUL_SETS : DEPLOYMENTS;
      objects.replace(servedKind(resource), edited, { manager: 'person' });
    },
    evict: (member) => {
      for (const pod of pods(member)) merge(PODS, pod, { status: evicted(bed.clock.now()) }, 'status');
    },
    advance: async (ms) => {
      for (let left = ms; left > 0; left -= TICK_MS) {
        play();
        await bed.advance(Math.min(TICK_MS, left));
      }
    },
  };
}

/** By template, which stays the same object until its workload is written. A test plays a workload thousands of times. */
const hashes = new WeakMap<object, string>();

function hashOf(template: object): string {
  const known = hashes.get(template) ?? digestOf(template).slice(7, 17);
  hashes.set(template, known);
  return known;
}

function podOfJob({ metadata }: KubeObject, index: number): KubeObject {
  const { name, uid = '' } = metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${index}`,
      namespace: NAMESPACE,
      labels: { 'job-name': name },
      ownerReferences: [owner],
    },
    spec: { containers: [] },
  };
}

/** Both have objects at most two levels deep, which are replaced as a whole below that. */
function merged(live: KubeObject, change: object): KubeObject {
  const parts = Object.entries(change as Record<string, object>).map(
    ([key, value]) => [key, { ...(live[key] as object), ...value }] as const,
  );
  return { ...live, ...(Object.fromEntries(parts) as object) };
}

function split(pods: readonly KubeObject[], hash: string): readonly [KubeObject[], KubeObject[]] {
  const isCurrent = ({ metadata }: KubeObject): boolean => metadata.labels?.['hash'] === hash;
  return [pods.filter(isCurrent), pods.filter((pod) => !isCurrent(pod))];
}

function isReady(pod: KubeObject): boolean {
  return listAt(pod, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}

function isPlayed(pod: KubeObject): boolean {
  return pod.metadata.labels?.['job-name'] === undefined && isActive(pod);
}

/** A controller counts no other pods of its own. */
function isActive(pod: KubeObject): boolean {
  return textAt(pod, 'status', 'phase') !== 'Failed';
}

function evicted(now: Date): object {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: now.toISOString() }];
  return { phase: 'Failed', reason: 'Evicted', message: 'low on memory', conditions };
}

function pending(now: Date): object {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  const message = 'persistentvolumeclaim not found';
  return { phase: 'Pending', conditions: [{ ...condition, message, lastTransitionTime: now.toISOString() }] };
}

function answering(now: Date): object {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: now.toISOString() }];
  return { phase: 'Running', conditions, containerStatuses: [{ restartCount: 0, state: { running: {} } }] };
}

function playedStatus(pod: KubeObject, fault: PodFault | undefined, now: Date): object {
  if (fault === 'crashes') return crashed(now);
  return { ...answering(now), ...(fault === 'unaddressed' ? {} : addressOf(pod)) };
}

function isApiServer(member: string | undefined): boolean {
  return API_SERVERS.some((each) => each === member);
}

function addressOf(pod: KubeObject): object {
  const number = Number(pod.metadata.name.split('-').at(-1));
  return { podIP: `10.244.${number >> 8}.${number & 255}` };
}

function crashed(now: Date, words = 'panic: it does not work'): object {
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' };
  const lastState = { terminated: { exitCode: 1, message: words } };
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: now.toISOString() }];
  return {
    phase: 'Running',
    conditions,
    containerStatuses: [{ restartCount: 3, state: { waiting }, lastState }],
  };
}

function containerOf(pod: KubeObject): unknown {
  return listAt(pod, 'spec', 'containers')[0];
}

function imageOf(pod: KubeObject): string {
  return textAt(containerOf(pod), 'image') ?? '';
}

function faultKey(pod: KubeObject): string {
  const member = memberOfLabels(pod.metadata.labels);
  return `${member} ${pod.metadata.annotations?.[ANNOTATION_VERSION] ?? imageOf(pod).slice(-4)}`;
}

/** `kube-apiserver v1.36.3 as 1.35`, or `kubenode-controllers …aaaa`. */
function programOf(pod: KubeObject): string {
  const args = listAt(containerOf(pod), 'args').map(String);
  const emulated = args.find((arg) => arg.startsWith('--emulated-version='))?.split('=')[1];
  return emulated === undefined ? faultKey(pod) : `${faultKey(pod)} as ${emulated}`;
}

interface InsideState {
  isInstalled: boolean;
  authorities?: SignedAuthorities;
}

function insideOf(hubOf: () => MemoryHub, state: InsideState): ClusterInside {
  const servers = (): readonly KubeObject[] => API_SERVERS.flatMap((member) => hubOf().pods(member));
  const requireServing = (): void => {
    if (!servers().some(isReady)) throw new Error('connection refused');
  };
  return {
    read: async () => {
      requireServing();
      const controllersLead = hubOf().pods('kubenode-controllers').some(isReady);
      const { isInstalled, authorities } = state;
      const report = { isInstalled, controllersLead, machines: [], machineSets: [] };
      return { ...report, ...optional('authorities', authorities) };
    },
    canary: async (kubeconfig, _, { tokenKeyId } = {}) => {
      const asked = podsAt(hostIn(kubeconfig), servers()).filter(isReady);
      const faults = asked.map((pod) => hubOf().faults.get(faultKey(pod)));
      if (asked.length === 0 || faults.includes('unreachable')) return { problem: 'connection refused' };
      if (faults.includes('refuses')) return { problem: 'the write was refused' };
      const signers = asked.map((pod) =>
        hubOf().authorities.signsBy(memberOfLabels(pod.metadata.labels) ?? ''),
      );
      return tokenKeyId === undefined || signers.every((each) => each === tokenKeyId)
        ? 'Passed'
        : { problem: OTHER_KEY };
    },
    clients: async () => ({ nodes: [], machines: [], tokens: [] }),
    publish: async (_, signed) => {
      requireServing();
      state.authorities = signed;
      hubOf().made.push(`publish ${phaseOf(signed)}`);
    },
    install: async () => {
      requireServing();
      state.isInstalled = true;
    },
    setEndpoint: async () => undefined,
    scaleDown: async () => undefined,
  };
}

function phaseOf({ document }: SignedAuthorities): string {
  return (JSON.parse(document) as AuthoritiesDocument).phase;
}

function hostIn(kubeconfig: string): string {
  const server = /server: (?<url>\S+)/.exec(kubeconfig)?.groups?.['url'];
  return server === undefined ? '' : new URL(server).hostname;
}

/** The Service gives a connection to any of its pods, the address of a pod only to that one. */
function podsAt(host: string, servers: readonly KubeObject[]): readonly KubeObject[] {
  if (host === ADDRESSES['kube-apiserver']) return servers;
  return servers.filter((pod) => textAt(pod, 'status', 'podIP') === host);
}

/** The images of the old and the new version. Each program has a digest of its own, by its first letter. */
export function hubImages(controllers = 'c'): WorkloadImages {
  const set = (version: string, etcdVersion: string, digit: string): WorkloadImages['versions'][number] => ({
    version,
    etcdVersion,
    images: {
      etcd: imageNamed('etcd', digit),
      'kube-apiserver': imageNamed('kube-apiserver', digit),
      'kube-controller-manager': imageNamed('kube-controller-manager', digit),
      'kube-scheduler': imageNamed('kube-scheduler', digit),
    },
  });
  return {
    versions: [set('v1.35.4', 'v3.6.5', '1'), set('v1.36.3', 'v3.6.8', '2')],
    kubenode: imageNamed('kubenode', controllers),
    backupStorageClass: 'backups',
    priorityClass: 'system-cluster-critical',
  };
}

function imageNamed(name: string, digit: string): string {
  return `registry.example/${name}@sha256:${digit.repeat(64)}`;
}
