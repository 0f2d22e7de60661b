/** The command lines of a control plane. Flags that differ from the upstream default have a reason. */
import { join } from 'node:path';
import type { Command } from '../../os/process/child.ts';

/** Returns the path of a program. */
export type ProgramPath = (name: Program) => string;

export const PROGRAMS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kubelet',
] as const;
export type Program = (typeof PROGRAMS)[number];

/** The default bind address: only this machine has access. */
export const LOOPBACK = '127.0.0.1';
/** Service addresses are not routed here, so that all clusters can use the same range. */
const SERVICE_RANGE = '10.96.0.0/16';
/** The first address of the range, which is that of the Service `kubernetes`. */
export const SERVICE_ADDRESS = '10.96.0.1';
/** The name of etcd in its certificate. */
export const ETCD_USER = 'etcd';
/** The name of the API server in its certificate for the servers of aggregated APIs. */
export const FRONT_PROXY_USER = 'front-proxy-client';
const MIB = 1024 ** 2;

export interface EtcdFlags {
  readonly dataFolder: string;
  /** With the files of ensureEtcdPki. */
  readonly pkiFolder: string;
  readonly port: number;
  /** False in tests: a crash of the whole machine can lose data. */
  readonly durable: boolean;
  readonly quotaMiB?: number | undefined;
  /** Absent: etcd has one member. */
  readonly peer?: EtcdPeerFlags | undefined;
  /** Whether it forgets all other members: for a copy of its data only. */
  readonly alone?: boolean;
}

export interface EtcdPeerFlags {
  readonly name: string;
  readonly port: number;
}

export function createEtcdCommand(path: ProgramPath, flags: EtcdFlags): Command {
  const { dataFolder, pkiFolder, port, quotaMiB = 8192, peer } = flags;
  const url = `https://${LOOPBACK}:${port}`;
  const pki = (file: string): string => join(pkiFolder, file);
  return {
    program: path('etcd'),
    args: [
      `--name=${peer?.name ?? 'local'}`,
      `--data-dir=${dataFolder}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      // A single member has no peers: any free port works and is not in the state file.
      `--listen-peer-urls=${etcdPeerUrl(peer?.port ?? 0)}`,
      ...tlsFlags('', pki),
      ...tlsFlags('peer-', pki),
      ...(peer ? peerFlags(peer) : SINGLE_MEMBER),
      // Many clusters share this etcd. Each API server compacts every five minutes; this limits the history in between.
      '--auto-compaction-mode=periodic',
      '--auto-compaction-retention=30m',
      `--quota-backend-bytes=${quotaMiB * MIB}`,
      // Many small clusters write less than a large one: a snapshot every 10,000 entries is sufficient.
      '--snapshot-count=10000',
      '--max-request-bytes=3145728',
      '--log-level=warn',
      ...modeFlags(flags),
    ],
  };
}

/** Tells whether an etcd answers. One whose database is full refuses writes only, and clients have to reach it to delete something. */
export const ETCD_HEALTH_PATH = '/health?exclude=NOSPACE';
/** Makes etcd forget all other members, for a copy of its data. */
export const FORGET_OTHERS = '--force-new-cluster';

function modeFlags({ durable, alone = false }: EtcdFlags): string[] {
  return [...(durable ? [] : ['--unsafe-no-fsync']), ...(alone ? [FORGET_OTHERS] : [])];
}

/** A single member always wins its election: these shorten it at startup. */
const SINGLE_MEMBER = ['--heartbeat-interval=50', '--election-timeout=500'];

/** The time for elections is that of upstream: members that share a busy machine must not lose their leader for a pause. */
function peerFlags({ port }: EtcdPeerFlags): string[] {
  return [
    `--initial-advertise-peer-urls=${etcdPeerUrl(port)}`,
    // The API server has a certificate of the same CA, and may not join.
    `--peer-cert-allowed-cn=${ETCD_USER}`,
    // A member that has lost its data must not begin an etcd of its own.
    '--initial-cluster-state=existing',
  ];
}

export function etcdPeerUrl(port: number): string {
  return `https://${LOOPBACK}:${port}`;
}

function tlsFlags(kind: '' | 'peer-', pki: (file: string) => string): string[] {
  return [
    `--${kind}cert-file=${pki('etcd.pem')}`,
    `--${kind}key-file=${pki('etcd.pem')}`,
    `--${kind}trusted-ca-file=${pki('ca.crt')}`,
    `--${kind}client-cert-auth`,
  ];
}

export interface ApiServerFlags {
  /** With the files of ensureClusterPki. */
  readonly pkiFolder: string;
  /** With the files of ensureEtcdPki. */
  readonly etcdPkiFolder: string;
  readonly port: number;
  readonly bindAddress: string;
  /** The address for nodes and pods; undefined if other machines cannot reach the API server. */
  readonly advertiseAddress?: string | undefined;
  /** The URL of each member of etcd. */
  readonly etcdUrls: readonly string[];
  /** Separates the clusters in the shared etcd. */
  readonly etcdPrefix: string;
  readonly serviceRange?: string | undefined;
  /** Whether the folder has the CA and the certificate for aggregated APIs. */
  readonly frontProxy?: boolean;
  readonly extra?: readonly string[];
}

export function createApiServerCommand(path: ProgramPath, flags: ApiServerFlags): Command {
  const pki = (file: string): string => join(flags.pkiFolder, file);
  return {
    program: path('kube-apiserver'),
    args: [
      `--secure-port=${flags.port}`,
      `--bind-address=${flags.bindAddress}`,
      `--etcd-servers=${flags.etcdUrls.join(',')}`,
      `--etcd-prefix=${flags.etcdPrefix}`,
      `--etcd-cafile=${join(flags.etcdPkiFolder, 'ca.crt')}`,
      `--etcd-certfile=${join(flags.etcdPkiFolder, 'client.pem')}`,
      `--etcd-keyfile=${join(flags.etcdPkiFolder, 'client.pem')}`,
      `--client-ca-file=${pki('ca.crt')}`,
      `--tls-cert-file=${pki('apiserver.pem')}`,
      `--tls-private-key-file=${pki('apiserver.pem')}`,
      `--kubelet-client-certificate=${pki('kubelet-client.pem')}`,
      `--kubelet-client-key=${pki('kubelet-client.pem')}`,
      // By default the name of the Node comes first, which the resolver of this machine need not know.
      '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
      `--service-account-key-file=${pki('sa.key')}`,
      `--service-account-signing-key-file=${pki('sa.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-cluster-ip-range=${flags.serviceRange ?? SERVICE_RANGE}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      '--enable-bootstrap-token-auth=true',
      ...advertiseFlags(flags.advertiseAddress),
      ...(flags.frontProxy ? frontProxyFlags(pki) : []),
      // Counting objects for metrics causes most of the etcd load of an idle small cluster.
      '--etcd-count-metric-poll-period=0',
      '--etcd-db-metric-poll-interval=0',
      '--profiling=false',
      ...(flags.extra ?? []),
    ],
  };
}

/** Servers of aggregated APIs believe the user in these headers, by a CA that signs nothing else. */
function frontProxyFlags(pki: (file: string) => string): string[] {
  return [
    `--requestheader-client-ca-file=${pki('front-proxy-ca.crt')}`,
    `--requestheader-allowed-names=${FRONT_PROXY_USER}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${pki('front-proxy.pem')}`,
    `--proxy-client-key-file=${pki('front-proxy.pem')}`,
  ];
}

/** Endpoints cannot contain a loopback address, so without another address the Service `kubernetes` has none. */
function advertiseFlags(address: string | undefined): string[] {
  if (address !== undefined) return [`--advertise-address=${address}`];
  return [`--advertise-address=${LOOPBACK}`, '--endpoint-reconciler-type=none'];
}

export interface ManagerFlags {
  readonly pkiFolder: string;
  readonly kubeconfig: string;
  readonly port: number;
  readonly extra?: readonly string[];
}

export function createControllerManagerCommand(path: ProgramPath, flags: ManagerFlags): Command {
  const pki = (file: string): string => join(flags.pkiFolder, file);
  return {
    program: path('kube-controller-manager'),
    args: [
      ...commonFlags(flags),
      `--root-ca-file=${pki('ca.crt')}`,
      `--cluster-signing-cert-file=${pki('ca.pem')}`,
      `--cluster-signing-key-file=${pki('ca.pem')}`,
      `--service-account-private-key-file=${pki('sa.key')}`,
      '--use-service-account-credentials=true',
      '--controllers=*,bootstrapsigner,tokencleaner',
      // The controller manager creates this folder: inside the fleet, not in /usr.
      `--flex-volume-plugin-dir=${join(flags.pkiFolder, '..', 'volume-plugins')}`,
      ...(flags.extra ?? []),
    ],
  };
}

export function createSchedulerCommand(path: ProgramPath, flags: ManagerFlags): Command {
  return { program: path('kube-scheduler'), args: [...commonFlags(flags), ...(flags.extra ?? [])] };
}

/** No leader election: each cluster has one of each. */
function commonFlags({ kubeconfig, port, pkiFolder }: ManagerFlags): string[] {
  return [
    // The certificate of the API server also covers localhost, so that clients can verify the connection.
    `--tls-cert-file=${join(pkiFolder, 'apiserver.pem')}`,
    `--tls-private-key-file=${join(pkiFolder, 'apiserver.pem')}`,
    `--kubeconfig=${kubeconfig}`,
    // A certificate of the cluster is sufficient for access: no lookup in the cluster.
    `--client-ca-file=${join(pkiFolder, 'ca.crt')}`,
    '--authentication-skip-lookup=true',
    `--authorization-kubeconfig=${kubeconfig}`,
    `--bind-address=${LOOPBACK}`,
    `--secure-port=${port}`,
    '--leader-elect=false',
    '--profiling=false',
  ];
}
