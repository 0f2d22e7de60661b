/** Which processes a fleet consists of, and by what we know them when we meet them again. */
import { basename } from 'node:path';
import type { Command } from '../../os/process.ts';
import type { Layout } from '../layout.ts';
import type { ClusterState, FleetState } from '../state.ts';
import { advertisedAddress, ownUrl } from './addresses.ts';
import {
  apiServerCommand,
  controllerManagerCommand,
  etcdCommand,
  LOOPBACK,
  type Program,
  type ProgramPath,
  schedulerCommand,
} from './commands.ts';

export interface ProcessSpec {
  /** `etcd`, or `<cluster>/<program>`. */
  readonly id: string;
  readonly program: Program;
  /** Undefined for etcd, which all clusters share. */
  readonly cluster: string | undefined;
  readonly command: Command;
  /** An argument that no other process of this machine has: it names a file of this fleet. */
  readonly mark: string;
  readonly port: number;
  readonly bindAddress: string;
  readonly readyUrl: string;
  readonly logFile: string;
}

/** In the order in which they need each other. */
export function processesOf(state: FleetState, layout: Layout, path: ProgramPath): readonly ProcessSpec[] {
  return [
    etcdProcess(state, layout, path),
    ...state.clusters.map((cluster) => apiServerProcess(state, cluster, layout, path)),
    ...state.clusters.flatMap((cluster) =>
      cluster.controllers ? controllerProcesses(cluster, layout, path) : [],
    ),
  ];
}

function etcdProcess({ etcdPort: port }: FleetState, layout: Layout, path: ProgramPath): ProcessSpec {
  const command = etcdCommand(path, { ...layout.etcd, port, durable: true });
  const place = { port, bindAddress: LOOPBACK, logFile: `${layout.logs}/etcd.log` };
  const mark = `--data-dir=${layout.etcd.dataFolder}`;
  return {
    id: 'etcd',
    program: 'etcd',
    cluster: undefined,
    command,
    mark,
    ...place,
    readyUrl: `${ownUrl(LOOPBACK, port)}/health`,
  };
}

function apiServerProcess(
  { etcdPort }: FleetState,
  { name, port, bindAddress }: ClusterState,
  layout: Layout,
  path: ProgramPath,
): ProcessSpec {
  const { pkiFolder } = layout.cluster(name);
  const command = apiServerCommand(path, {
    pkiFolder,
    etcdPkiFolder: layout.etcd.pkiFolder,
    port,
    bindAddress,
    advertiseAddress: advertisedAddress(bindAddress),
    etcdUrl: ownUrl(LOOPBACK, etcdPort),
    etcdPrefix: `/${name}`,
  });
  const mark = `--kubelet-client-key=${pkiFolder}/kubelet-client.pem`;
  return ofCluster(name, {
    program: 'kube-apiserver',
    command,
    mark,
    port,
    bindAddress,
    layout,
    ready: '/readyz',
  });
}

function controllerProcesses(cluster: ClusterState, layout: Layout, path: ProgramPath): ProcessSpec[] {
  const { name, controllerManagerPort, schedulerPort } = cluster;
  const { pkiFolder, controllerManagerKubeconfig, schedulerKubeconfig } = layout.cluster(name);
  const manager = { pkiFolder, kubeconfig: controllerManagerKubeconfig, port: controllerManagerPort };
  const scheduler = { pkiFolder, kubeconfig: schedulerKubeconfig, port: schedulerPort };
  const common = { layout, bindAddress: LOOPBACK, ready: '/healthz' };
  return [
    ofCluster(name, {
      ...common,
      program: 'kube-controller-manager',
      command: controllerManagerCommand(path, manager),
      mark: `--kubeconfig=${manager.kubeconfig}`,
      port: manager.port,
    }),
    ofCluster(name, {
      ...common,
      program: 'kube-scheduler',
      command: schedulerCommand(path, scheduler),
      mark: `--kubeconfig=${scheduler.kubeconfig}`,
      port: scheduler.port,
    }),
  ];
}

type Part = Pick<ProcessSpec, 'program' | 'command' | 'mark' | 'port' | 'bindAddress'> & {
  readonly layout: Layout;
  readonly ready: string;
};

function ofCluster(cluster: string, { layout, ready, ...part }: Part): ProcessSpec {
  const logFile = `${layout.logs}/${cluster}-${part.program}.log`;
  return {
    ...part,
    id: `${cluster}/${part.program}`,
    cluster,
    logFile,
    readyUrl: `${ownUrl(part.bindAddress, part.port)}${ready}`,
  };
}

export function serverUrl({ bindAddress, port }: ClusterState): string {
  return ownUrl(bindAddress, port);
}

/** Whether a command line is that process, whatever else may have changed in it. */
export function isThatProcess(
  command: readonly string[],
  { program, mark }: Pick<ProcessSpec, 'program' | 'mark'>,
): boolean {
  return basename(command[0] ?? '') === program && command.includes(mark);
}
