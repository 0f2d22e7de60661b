/** The command lines of the members in their pods: those of every control plane, with the addresses and folders of a pod. Pure. */
import { isIPv4 } from 'node:net';
import {
  createApiServerCommand,
  createControllerManagerCommand,
  createEtcdCommand,
  createSchedulerCommand,
  LOOPBACK,
  type Program,
} from '../../../../../local/processes/commands.ts';
import { ETCD_MEMBERS, type EtcdMember, isApiServer, isEtcdMember } from '../../driver.ts';
import { etcdMembersOf, type WorkloadMember, type WorkloadRole } from '../names.ts';
import type { PlaneAddresses, WorkloadPlane } from '../plane.ts';
import {
  CONTROLLERS_PORT,
  ETCD_HEALTH_PORT,
  ETCD_PEER_PORT,
  ETCD_PORT,
  memberPort,
  urlOf,
} from '../ports.ts';

/** The folder with the keys and certificates of a member. */
export const PKI_FOLDER = '/etc/kubernetes/pki';
/** The folder with what the API server needs as a client of etcd. */
export const ETCD_PKI_FOLDER = '/etc/kubernetes/etcd';
export const ETCD_VOLUME_FOLDER = '/var/lib/etcd';
export const KUBECONFIG_FILE = 'kubeconfig';
/** The certificate of a manager as a server. */
export const SERVING_FILE = 'serving.pem';
const EVERY_ADDRESS = '0.0.0.0';
/** The member talks to itself only. */
export const LOCAL_PEER_URL = `https://${LOOPBACK}:2380`;

/** Images have their programs on the path. */
const onPath = (name: Program): string => name;

/** The words that start the member. Our own image has its program as entry point. */
export interface MemberCommand {
  readonly command?: readonly string[];
  readonly args: readonly string[];
}

export interface CommandParts {
  readonly plane: WorkloadPlane;
  readonly addresses: PlaneAddresses;
  /** The version of its program. */
  readonly version?: string | undefined;
}

export function memberCommand(member: WorkloadMember, parts: CommandParts): MemberCommand {
  if (isEtcdMember(member)) return programCommand('etcd', etcdArgs(member, parts));
  return COMMANDS[isApiServer(member) ? 'kube-apiserver' : member](parts.plane, parts.addresses);
}

type CommandOf = (plane: WorkloadPlane, addresses: PlaneAddresses) => MemberCommand;

const COMMANDS: Readonly<Record<Exclude<WorkloadRole, 'etcd'>, CommandOf>> = {
  'kube-apiserver': (plane, addresses) => programCommand('kube-apiserver', apiServerArgs(plane, addresses)),
  'kube-controller-manager': (plane) =>
    programCommand('kube-controller-manager', controllerManagerArgs(plane)),
  'kube-scheduler': (plane) => programCommand('kube-scheduler', schedulerArgs(plane)),
  'kubenode-controllers': () => ({ args: controllersArgs() }),
};

function programCommand(program: Program, args: readonly string[]): MemberCommand {
  return { command: [program], args };
}

/**
 * An etcd that has had data starts with `existing`: without its data it looks for other members, finds none and ends, instead of beginning an
 * empty one that looks healthy.
 */
function etcdArgs(member: EtcdMember, parts: CommandParts): readonly string[] {
  const { plane, addresses } = parts;
  const isAlone = etcdMembersOf(plane).length === 1;
  const { args } = createEtcdCommand(onPath, {
    dataFolder: `${ETCD_VOLUME_FOLDER}/data`,
    pkiFolder: PKI_FOLDER,
    port: ETCD_PORT,
    durable: true,
    quotaMiB: plane.settings.quotaMiB,
    ...(isAlone ? {} : { peer: { name: member, port: ETCD_PEER_PORT } }),
  });
  return withFlags(args, {
    name: member,
    'listen-client-urls': `https://${EVERY_ADDRESS}:${ETCD_PORT}`,
    'advertise-client-urls': urlOf(addressOf(addresses, member), ETCD_PORT),
    'listen-metrics-urls': `http://${EVERY_ADDRESS}:${ETCD_HEALTH_PORT}`,
    ...(isAlone ? aloneFlags(plane) : peerFlags(member, parts)),
  });
}

function aloneFlags({ isSealed }: WorkloadPlane): Readonly<Record<string, string>> {
  return {
    'listen-peer-urls': LOCAL_PEER_URL,
    'initial-advertise-peer-urls': LOCAL_PEER_URL,
    'initial-cluster': `etcd=${LOCAL_PEER_URL}`,
    'initial-cluster-state': isSealed ? 'existing' : 'new',
  };
}

/**
 * The first member begins the etcd, with a token that keeps it apart from one that had the same addresses. Each other one joins. Once a member
 * has data it knows no other one by its flags: without its data it ends.
 */
function peerFlags(
  member: EtcdMember,
  { plane, addresses, version }: CommandParts,
): Readonly<Record<string, string>> {
  const url = etcdPeerUrlAt(addressOf(addresses, member));
  const { initialCluster } = plane.members[member] ?? {};
  const begins = member === 'etcd' && !plane.isSealed && initialCluster === undefined;
  return {
    'listen-peer-urls': `https://${EVERY_ADDRESS}:${ETCD_PEER_PORT}`,
    'initial-advertise-peer-urls': url,
    'initial-cluster': initialCluster ?? `${member}=${url}`,
    'initial-cluster-state': begins ? 'new' : 'existing',
    ...(begins ? { 'initial-cluster-token': plane.uid } : {}),
    // A pod connects from its own address, and certificates have those of the Services. Who may join is decided by name and authority.
    [skipsPeerAddress(version)]: 'true',
  };
}

/** The flag got this name with v3.6. */
function skipsPeerAddress(version = ''): string {
  const name = 'peer-skip-client-san-verification';
  return /^v3\.[0-5]\./.test(version) ? `experimental-${name}` : name;
}

/** Returns the URL of a member for the others. */
export function etcdPeerUrlAt(address: string): string {
  return urlOf(address, ETCD_PEER_PORT);
}

function addressOf({ etcd }: PlaneAddresses, member: EtcdMember): string {
  return etcd[ETCD_MEMBERS.indexOf(member)] ?? '';
}

function apiServerArgs(plane: WorkloadPlane, { etcd, apiServer }: PlaneAddresses): readonly string[] {
  const { settings, placement } = plane;
  const { host } = placement.exposure;
  const { args } = createApiServerCommand(onPath, {
    pkiFolder: PKI_FOLDER,
    etcdPkiFolder: ETCD_PKI_FOLDER,
    port: memberPort('kube-apiserver', placement.exposure.port),
    bindAddress: EVERY_ADDRESS,
    // What nodes and pods of the cluster reach by the Service `kubernetes`.
    advertiseAddress: host !== undefined && isIPv4(host) ? host : apiServer,
    etcdUrls: etcd.map((address) => urlOf(address, ETCD_PORT)),
    etcdPrefix: `/${plane.cluster}`,
    serviceRange: settings.serviceCIDR,
    frontProxy: true,
  });
  return withFlags(args, { ...GRACEFUL_END, ...settings.apiServer });
}

/**
 * An API server that ends reports at once that it is not ready, and serves until every node sends new connections to the next one. Then it
 * ends its watches within a second, as clients ask again at once.
 */
const GRACEFUL_END = {
  'shutdown-delay-duration': '3s',
  'shutdown-watch-termination-grace-period': '1s',
};

function controllerManagerArgs({ settings }: WorkloadPlane): readonly string[] {
  const { args } = createControllerManagerCommand(onPath, managerFlags('kube-controller-manager'));
  return withFlags(args, {
    ...SERVED,
    // The only folder that it can write.
    'flex-volume-plugin-dir': '/tmp/volume-plugins',
    'allocate-node-cidrs': 'true',
    'cluster-cidr': settings.podCIDR,
    'service-cluster-ip-range': settings.serviceCIDR,
    ...settings.controllerManager,
  });
}

function schedulerArgs({ settings }: WorkloadPlane): readonly string[] {
  const { args } = createSchedulerCommand(onPath, managerFlags('kube-scheduler'));
  return withFlags(args, { ...SERVED, ...settings.scheduler });
}

/** The kubelet asks for their health, and hosting for their certificate. */
const SERVED = {
  'bind-address': EVERY_ADDRESS,
  'tls-cert-file': `${PKI_FOLDER}/${SERVING_FILE}`,
  'tls-private-key-file': `${PKI_FOLDER}/${SERVING_FILE}`,
};

function managerFlags(member: WorkloadMember): Parameters<typeof createSchedulerCommand>[1] {
  const kubeconfig = `${PKI_FOLDER}/${KUBECONFIG_FILE}`;
  return { pkiFolder: PKI_FOLDER, kubeconfig, port: memberPort(member, 0) };
}

function controllersArgs(): readonly string[] {
  return [
    'controllers',
    `--kubeconfig=${PKI_FOLDER}/${KUBECONFIG_FILE}`,
    `--port=${CONTROLLERS_PORT}`,
    `--host=${EVERY_ADDRESS}`,
    '--log-level=warn',
  ];
}

/** Replaces flags by their names, in their places, and adds those that are new. */
export function withFlags(
  args: readonly string[],
  flags: Readonly<Record<string, string>>,
): readonly string[] {
  const names = new Set(args.map(nameOf));
  const kept = args.map((arg) => {
    const name = nameOf(arg);
    return Object.hasOwn(flags, name) ? `--${name}=${flags[name] ?? ''}` : arg;
  });
  const added = Object.entries(flags).filter(([name]) => !names.has(name));
  return [...kept, ...added.map(([name, value]) => `--${name}=${value}`)];
}

function nameOf(arg: string): string {
  return arg.replace(/^--/, '').split('=')[0] ?? '';
}
