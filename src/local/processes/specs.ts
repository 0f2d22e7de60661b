/** The processes of a fleet, each with a mark by which it is recognized. */
import { basename } from 'node:path';
import { httpUrl } from '../../os/net/http-server.ts';
import type { Command } from '../../os/process/child.ts';
import { etcdDataFolder, type Layout } from '../layout.ts';
import type { FleetState, LocalClusterState, PlaneSettings } from '../state.ts';
import { findAdvertisedAddress, localUrl } from './addresses.ts';
import {
  createApiServerCommand,
  createControllerManagerCommand,
  createEtcdCommand,
  createSchedulerCommand,
  ETCD_HEALTH_PATH,
  LOOPBACK,
  type Program,
  type ProgramPath,
} from './commands.ts';

export interface ProcessSpec {
  /** `etcd`, `etcd-1` of several members, `<cluster>/<program>`, or `<cluster>/kube-apiserver-1` of several API servers. */
  readonly id: string;
  readonly program: Program;
  /** Undefined for etcd, which is shared by all clusters. */
  readonly cluster: string | undefined;
  readonly command: Command;
  /** An argument with a file of this fleet, which no other process on this machine has. Several API servers have the same, and other ports. */
  readonly mark: string;
  readonly port: number;
  readonly bindAddress: string;
  readonly readyUrl: string;
  readonly logFile: string;
}

/** In the order of their dependencies. */
export function createProcessSpecs(
  state: FleetState,
  layout: Layout,
  path: ProgramPath,
): readonly ProcessSpec[] {
  return [
    ...createEtcdSpecs(state, layout, path),
    ...state.clusters.flatMap((cluster) => createApiServerSpecs(state, cluster, layout, path)),
    ...state.clusters.flatMap((cluster) =>
      cluster.controllers ? createControllerSpecs(cluster, layout, path) : [],
    ),
  ];
}

function createEtcdSpecs(
  { etcdPort, etcdMembers, clusters }: FleetState,
  layout: Layout,
  path: ProgramPath,
): ProcessSpec[] {
  const quotaMiB = clusters[0]?.plane?.quotaMiB;
  const { pkiFolder } = layout.etcd;
  const create = (port: number, index: number, peerPort?: number): ProcessSpec => {
    const id = index === 0 ? 'etcd' : `etcd-${index}`;
    const dataFolder = etcdDataFolder(layout, index);
    const peer = peerPort === undefined ? undefined : { name: id, port: peerPort };
    const flags = { dataFolder, pkiFolder, port, durable: true, quotaMiB, peer };
    return createEtcdSpec(id, createEtcdCommand(path, flags), { dataFolder, port, layout });
  };
  return (
    etcdMembers?.map(({ port, peerPort }, index) => create(port, index, peerPort)) ?? [create(etcdPort, 0)]
  );
}

function etcdPorts({ etcdPort, etcdMembers }: FleetState): readonly number[] {
  return etcdMembers?.map((member) => member.port) ?? [etcdPort];
}

interface EtcdProcess {
  readonly dataFolder: string;
  readonly port: number;
  readonly layout: Layout;
}

function createEtcdSpec(
  id: string,
  command: Command,
  { dataFolder, port, layout }: EtcdProcess,
): ProcessSpec {
  const listen = { port, bindAddress: LOOPBACK, logFile: `${layout.logs}/${id}.log` };
  const mark = `--data-dir=${dataFolder}`;
  return {
    id,
    program: 'etcd',
    cluster: undefined,
    command,
    mark,
    ...listen,
    readyUrl: `${localUrl(LOOPBACK, port)}${ETCD_HEALTH_PATH}`,
  };
}

/** Each of several API servers has a port of its own: clients connect to the balancers before them. */
function createApiServerSpecs(
  state: FleetState,
  cluster: LocalClusterState,
  layout: Layout,
  path: ProgramPath,
): ProcessSpec[] {
  const { apiServers } = cluster;
  if (!apiServers) return [createApiServerSpec(state, cluster, layout, path)];
  return apiServers.ports.slice(0, apiServers.replicas).map((port, index) => {
    const spec = createApiServerSpec(state, { ...cluster, port }, layout, path);
    if (index === 0) return spec;
    const logFile = spec.logFile.replace(/\.log$/, `-${index}.log`);
    return { ...spec, id: `${spec.id}-${index}`, logFile };
  });
}

function createApiServerSpec(
  state: FleetState,
  { name, port, bindAddress, plane, apiServers }: LocalClusterState,
  layout: Layout,
  path: ProgramPath,
): ProcessSpec {
  const { pkiFolder } = layout.cluster(name);
  const command = createApiServerCommand(path, {
    pkiFolder,
    etcdPkiFolder: layout.etcd.pkiFolder,
    port,
    bindAddress,
    advertiseAddress: findAdvertisedAddress(bindAddress),
    etcdUrls: etcdPorts(state).map((etcdPort) => localUrl(LOOPBACK, etcdPort)),
    etcdPrefix: `/${name}`,
    serviceRange: plane?.serviceCIDR,
    frontProxy: plane !== undefined,
    extra: [...(apiServers ? GRACEFUL_END : []), ...formatFlags(plane?.apiServer)],
  });
  const mark = `--kubelet-client-key=${pkiFolder}/kubelet-client.pem`;
  return createClusterSpec(name, {
    program: 'kube-apiserver',
    command,
    mark,
    port,
    bindAddress,
    layout,
    ready: '/readyz',
  });
}

/**
 * An API server of several that is stopped reports at once that it is not ready, and serves for two more seconds: its balancers need half of
 * one to notice. Then its watches end within a second, so that their clients begin them again at another one.
 */
export const GRACEFUL_END: readonly string[] = [
  '--shutdown-delay-duration=2s',
  '--shutdown-watch-termination-grace-period=1s',
];

function createControllerSpecs(cluster: LocalClusterState, layout: Layout, path: ProgramPath): ProcessSpec[] {
  const { name, controllerManagerPort, schedulerPort, plane } = cluster;
  const { pkiFolder, controllerManagerKubeconfig, schedulerKubeconfig } = layout.cluster(name);
  const manager = {
    pkiFolder,
    kubeconfig: controllerManagerKubeconfig,
    port: controllerManagerPort,
    extra: managerFlags(plane),
  };
  const scheduler = {
    pkiFolder,
    kubeconfig: schedulerKubeconfig,
    port: schedulerPort,
    extra: formatFlags(plane?.scheduler),
  };
  const common = { layout, bindAddress: LOOPBACK, ready: '/healthz' };
  return [
    createClusterSpec(name, {
      ...common,
      program: 'kube-controller-manager',
      command: createControllerManagerCommand(path, manager),
      mark: `--kubeconfig=${manager.kubeconfig}`,
      port: manager.port,
    }),
    createClusterSpec(name, {
      ...common,
      program: 'kube-scheduler',
      command: createSchedulerCommand(path, scheduler),
      mark: `--kubeconfig=${scheduler.kubeconfig}`,
      port: scheduler.port,
    }),
  ];
}

/** The ranges that differ from the defaults of the controller manager. */
function managerFlags(plane: PlaneSettings | undefined): readonly string[] {
  if (!plane) return [];
  const { podCIDR, serviceCIDR, controllerManager } = plane;
  return [
    '--allocate-node-cidrs=true',
    `--cluster-cidr=${podCIDR}`,
    `--service-cluster-ip-range=${serviceCIDR}`,
    ...formatFlags(controllerManager),
  ];
}

function formatFlags(flags: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}

type ClusterProcess = Pick<ProcessSpec, 'program' | 'command' | 'mark' | 'port' | 'bindAddress'> & {
  readonly layout: Layout;
  readonly ready: string;
};

function createClusterSpec(cluster: string, { layout, ready, ...process }: ClusterProcess): ProcessSpec {
  const logFile = `${layout.logs}/${cluster}-${process.program}.log`;
  return {
    ...process,
    id: `${cluster}/${process.program}`,
    cluster,
    logFile,
    readyUrl: `${localUrl(process.bindAddress, process.port)}${ready}`,
  };
}

export function serverUrl({ bindAddress, port }: LocalClusterState): string {
  return localUrl(bindAddress, port);
}

/** Returns the URL for clients that need not be on this machine, where there is one. */
export function outsideUrl(cluster: LocalClusterState): string {
  return cluster.exposure ? httpUrl('https', cluster.exposure) : serverUrl(cluster);
}

/** Whether a command line is that process, possibly with other settings. */
export function matchesSpec(
  command: readonly string[],
  { program, mark }: Pick<ProcessSpec, 'program' | 'mark'>,
): boolean {
  return basename(command[0] ?? '') === program && command.includes(mark);
}
