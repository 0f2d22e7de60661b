/** Computes the desired state of a fleet from the current state and the requested clusters. */
import { findNextPort, isPortFree } from '../../os/net/ports.ts';
import { LocalError } from '../errors.ts';
import { clusterNames } from '../names.ts';
import type { FleetState, LocalClusterState } from '../state.ts';
import { LOOPBACK } from './commands.ts';

/** First port of etcd and the controllers: apart from the API servers, whose ports are consecutive. */
const FIRST_INTERNAL_PORT = 17_443;

/** Omitted fields keep their current value. */
export interface RequestedClusters {
  /** The number of clusters. `up` never removes clusters, even if there are more. */
  readonly clusters?: number | undefined;
  readonly controllers?: boolean | undefined;
  readonly bindAddress?: string | undefined;
  readonly names?: readonly string[] | undefined;
  /** The port of the first API server; the others use the following ports. */
  readonly firstPort?: number | undefined;
}

export async function planFleetState(
  current: FleetState | undefined,
  requested: RequestedClusters,
): Promise<FleetState> {
  const allocatePort = createPortAllocator(current ? listPorts(current) : []);
  const clusters = (current?.clusters ?? []).map((cluster) => updateCluster(cluster, requested));
  const names = clusterNames(requested.clusters ?? Math.max(1, clusters.length));
  for (const name of names.slice(clusters.length)) {
    clusters.push(await createCluster(name, clusters.length, requested, allocatePort));
  }
  return { version: 1, etcdPort: current?.etcdPort ?? (await allocatePort(FIRST_INTERNAL_PORT)), clusters };
}

type PortAllocator = (from?: number, address?: string) => Promise<number>;

/** Allocates each port once, and none of the used ports. */
function createPortAllocator(used: readonly number[]): PortAllocator {
  const taken = new Set(used);
  return async (from, address = LOOPBACK) => {
    const port = await findNextPort(taken, address, from);
    taken.add(port);
    return port;
  };
}

function updateCluster(
  cluster: LocalClusterState,
  { controllers, bindAddress, names }: RequestedClusters,
): LocalClusterState {
  return {
    ...cluster,
    ...(controllers === undefined ? {} : { controllers }),
    ...(bindAddress === undefined ? {} : { bindAddress }),
    ...(names === undefined ? {} : { names: [...names] }),
  };
}

async function createCluster(
  name: string,
  index: number,
  requested: RequestedClusters,
  allocatePort: PortAllocator,
): Promise<LocalClusterState> {
  const { controllers = true, bindAddress = LOOPBACK, names = [], firstPort } = requested;
  if (firstPort !== undefined) await verifyPortFree(firstPort + index, bindAddress, name);
  return {
    name,
    port: await allocatePort(firstPort === undefined ? undefined : firstPort + index, bindAddress),
    controllerManagerPort: await allocatePort(FIRST_INTERNAL_PORT),
    schedulerPort: await allocatePort(FIRST_INTERNAL_PORT),
    bindAddress,
    names: [...names],
    controllers,
  };
}

/** Never replaces a port that the user specified. */
async function verifyPortFree(port: number, address: string, name: string): Promise<void> {
  if (await isPortFree(port, address)) return;
  throw new LocalError('PortInUse', `port ${port} for cluster ${name} is in use by another program`, {
    where: `${address}:${port}`,
    hint: `stop that program (find it with: ss -ltnp 'sport = :${port}'), or pass another --port`,
  });
}

export function listPorts({ etcdPort, etcdMembers = [], clusters }: FleetState): number[] {
  const ofClusters = clusters.flatMap((cluster) => [
    cluster.port,
    cluster.controllerManagerPort,
    cluster.schedulerPort,
    ...(cluster.apiServers?.ports ?? []),
    ...(cluster.apiServers?.balancerPorts ?? []),
    ...(cluster.exposure ? [cluster.exposure.port, ...cluster.exposure.gatewayPorts] : []),
  ]);
  const ofEtcd = etcdMembers.flatMap((member) => [member.port, member.peerPort]);
  return [...new Set([etcdPort, ...ofEtcd]), ...ofClusters];
}

/** Replaces this port everywhere in the state. */
export function replacePort(state: FleetState, from: number, to: number): FleetState {
  const replace = (port: number): number => (port === from ? to : port);
  return {
    ...state,
    etcdPort: replace(state.etcdPort),
    clusters: state.clusters.map((cluster) => ({
      ...cluster,
      port: replace(cluster.port),
      controllerManagerPort: replace(cluster.controllerManagerPort),
      schedulerPort: replace(cluster.schedulerPort),
    })),
  };
}
