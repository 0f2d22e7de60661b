/** The command lines of a control plane. Each flag that differs from the upstream default says why. */
import { join } from 'node:path';
import type { Command } from '../../os/process.ts';

/** Where the programs are: one folder with all of them under their upstream names. */
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

/** Nobody but this machine reaches them, unless it is asked for. */
export const LOOPBACK = '127.0.0.1';
/** Services get addresses that nothing routes here; the same range in each cluster does no harm. */
const SERVICE_RANGE = '10.96.0.0/16';
/** The first address of the range: what pods call the API server by. */
export const SERVICE_ADDRESS = '10.96.0.1';

export interface EtcdFlags {
  readonly dataFolder: string;
  /** As ensureEtcdPki fills it. */
  readonly pkiFolder: string;
  readonly port: number;
  /** False for tests: after a crash of the whole machine the data may be lost. */
  readonly durable: boolean;
}

export function etcdCommand(path: ProgramPath, flags: EtcdFlags): Command {
  const { dataFolder, pkiFolder, port, durable } = flags;
  const url = `https://${LOOPBACK}:${port}`;
  const pki = (file: string): string => join(pkiFolder, file);
  return {
    program: path('etcd'),
    args: [
      '--name=local',
      `--data-dir=${dataFolder}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      // A single member never hears from a peer: any free port will do, and needs no place in the state file.
      `--listen-peer-urls=https://${LOOPBACK}:0`,
      ...tls('', pki),
      ...tls('peer-', pki),
      // Alone it always wins its election: these two only shorten the wait for it at start.
      '--heartbeat-interval=50',
      '--election-timeout=500',
      // Many clusters share it. Each API server compacts every five minutes; this bounds what lies between.
      '--auto-compaction-mode=periodic',
      '--auto-compaction-retention=30m',
      `--quota-backend-bytes=${8 * 1024 ** 3}`,
      // Many small clusters write less than one large one: a snapshot of the log every 10,000 entries is plenty.
      '--snapshot-count=10000',
      '--max-request-bytes=3145728',
      '--log-level=warn',
      ...(durable ? [] : ['--unsafe-no-fsync']),
    ],
  };
}

function tls(kind: '' | 'peer-', pki: (file: string) => string): string[] {
  return [
    `--${kind}cert-file=${pki('etcd.pem')}`,
    `--${kind}key-file=${pki('etcd.pem')}`,
    `--${kind}trusted-ca-file=${pki('ca.crt')}`,
    `--${kind}client-cert-auth`,
  ];
}

export interface ApiServerFlags {
  /** As ensureClusterPki fills it. */
  readonly pkiFolder: string;
  /** As ensureEtcdPki fills it. */
  readonly etcdPkiFolder: string;
  readonly port: number;
  readonly bindAddress: string;
  /** What the cluster tells its own nodes and pods; undefined when nobody outside can come anyway. */
  readonly advertiseAddress?: string | undefined;
  readonly etcdUrl: string;
  /** What keeps the clusters on one etcd apart. */
  readonly etcdPrefix: string;
  readonly extra?: readonly string[];
}

export function apiServerCommand(path: ProgramPath, flags: ApiServerFlags): Command {
  const pki = (file: string): string => join(flags.pkiFolder, file);
  return {
    program: path('kube-apiserver'),
    args: [
      `--secure-port=${flags.port}`,
      `--bind-address=${flags.bindAddress}`,
      `--etcd-servers=${flags.etcdUrl}`,
      `--etcd-prefix=${flags.etcdPrefix}`,
      `--etcd-cafile=${join(flags.etcdPkiFolder, 'ca.crt')}`,
      `--etcd-certfile=${join(flags.etcdPkiFolder, 'client.pem')}`,
      `--etcd-keyfile=${join(flags.etcdPkiFolder, 'client.pem')}`,
      `--client-ca-file=${pki('ca.crt')}`,
      `--tls-cert-file=${pki('apiserver.pem')}`,
      `--tls-private-key-file=${pki('apiserver.pem')}`,
      `--kubelet-client-certificate=${pki('kubelet-client.pem')}`,
      `--kubelet-client-key=${pki('kubelet-client.pem')}`,
      `--service-account-key-file=${pki('sa.key')}`,
      `--service-account-signing-key-file=${pki('sa.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-cluster-ip-range=${SERVICE_RANGE}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      '--enable-bootstrap-token-auth=true',
      ...advertise(flags.advertiseAddress),
      // Counting objects for metrics is most of what an idle small cluster asks of a shared etcd.
      '--etcd-count-metric-poll-period=0',
      '--etcd-db-metric-poll-interval=0',
      '--profiling=false',
      ...(flags.extra ?? []),
    ],
  };
}

/** Endpoints may not name a loopback address, so without another one there are none for `kubernetes`. */
function advertise(address: string | undefined): string[] {
  if (address !== undefined) return [`--advertise-address=${address}`];
  return [`--advertise-address=${LOOPBACK}`, '--endpoint-reconciler-type=none'];
}

export interface ManagerFlags {
  readonly pkiFolder: string;
  readonly kubeconfig: string;
  readonly port: number;
}

export function controllerManagerCommand(path: ProgramPath, flags: ManagerFlags): Command {
  const pki = (file: string): string => join(flags.pkiFolder, file);
  return {
    program: path('kube-controller-manager'),
    args: [
      ...common(flags),
      `--root-ca-file=${pki('ca.crt')}`,
      `--cluster-signing-cert-file=${pki('ca.pem')}`,
      `--cluster-signing-key-file=${pki('ca.pem')}`,
      `--service-account-private-key-file=${pki('sa.key')}`,
      '--use-service-account-credentials=true',
      '--controllers=*,bootstrapsigner,tokencleaner',
      // It makes this folder when it is not there: not in the system, but where the fleet lies.
      `--flex-volume-plugin-dir=${join(flags.pkiFolder, '..', 'volume-plugins')}`,
    ],
  };
}

export function schedulerCommand(path: ProgramPath, flags: ManagerFlags): Command {
  return { program: path('kube-scheduler'), args: common(flags) };
}

/** One of each to a cluster: an election would only cost writes and time. */
function common({ kubeconfig, port, pkiFolder }: ManagerFlags): string[] {
  return [
    // That of the API server does for localhost as well, and makes them checkable from outside.
    `--tls-cert-file=${join(pkiFolder, 'apiserver.pem')}`,
    `--tls-private-key-file=${join(pkiFolder, 'apiserver.pem')}`,
    `--kubeconfig=${kubeconfig}`,
    // Whoever has a certificate of the cluster may ask them: no need to look that up in the cluster itself.
    `--client-ca-file=${join(pkiFolder, 'ca.crt')}`,
    '--authentication-skip-lookup=true',
    `--authorization-kubeconfig=${kubeconfig}`,
    `--bind-address=${LOOPBACK}`,
    `--secure-port=${port}`,
    '--leader-elect=false',
    '--profiling=false',
  ];
}
