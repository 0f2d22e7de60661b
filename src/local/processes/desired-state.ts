/** From the fleet that there is and the wish for one to the state that is written down before anything starts. */

import { findNextPort, isPortFree } from '../../os/ports.ts';
import { LocalError } from '../errors.ts';
import { clusterNames } from '../names.ts';
import type { ClusterState, FleetState } from '../state.ts';
import { LOOPBACK } from './commands.ts';

/** Ports that nobody has to know: apart from those of the API servers, so that these follow each other. */
const INNER_PORTS = 17_443;

/** What is left out stays as it is. */
export interface Wish {
  /** How many clusters there should be. More than that stay: `up` never takes a cluster away. */
  readonly clusters?: number | undefined;
  readonly controllers?: boolean | undefined;
  readonly bindAddress?: string | undefined;
  readonly names?: readonly string[] | undefined;
  /** The port of the first API server; the others get the next ones. */
  readonly firstPort?: number | undefined;
}

export async function growState(present: FleetState | undefined, wish: Wish): Promise<FleetState> {
  const allot = allotter(present ? portsOf(present) : []);
  const clusters = (present?.clusters ?? []).map((cluster) => adjust(cluster, wish));
  const wanted = clusterNames(wish.clusters ?? Math.max(1, clusters.length));
  for (const name of wanted.slice(clusters.length)) {
    clusters.push(await newCluster(name, clusters.length, wish, allot));
  }
  return { version: 1, etcdPort: present?.etcdPort ?? (await allot(INNER_PORTS)), clusters };
}

type Allot = (from?: number, address?: string) => Promise<number>;

/** Gives each port once, those of the fleet as it is not at all. */
function allotter(given: readonly number[]): Allot {
  const taken = new Set(given);
  return async (from, address = LOOPBACK) => {
    const port = await findNextPort(taken, address, from);
    taken.add(port);
    return port;
  };
}

function adjust(cluster: ClusterState, { controllers, bindAddress, names }: Wish): ClusterState {
  return {
    ...cluster,
    ...(controllers === undefined ? {} : { controllers }),
    ...(bindAddress === undefined ? {} : { bindAddress }),
    ...(names === undefined ? {} : { names: [...names] }),
  };
}

async function newCluster(name: string, index: number, wish: Wish, allot: Allot): Promise<ClusterState> {
  const { controllers = true, bindAddress = LOOPBACK, names = [], firstPort } = wish;
  if (firstPort !== undefined) await refuseTaken(firstPort + index, bindAddress, name);
  return {
    name,
    port: await allot(firstPort === undefined ? undefined : firstPort + index, bindAddress),
    controllerManagerPort: await allot(INNER_PORTS),
    schedulerPort: await allot(INNER_PORTS),
    bindAddress,
    names: [...names],
    controllers,
  };
}

/** A port that was asked for by number is that port or an error. */
async function refuseTaken(port: number, address: string, name: string): Promise<void> {
  if (await isPortFree(port, address)) return;
  throw new LocalError('PortInUse', `port ${port}, wanted for cluster ${name}, is in use`, {
    where: `${address}:${port}`,
    hint: `end the program that listens there (ss -ltnp 'sport = :${port}'), or choose another --port`,
  });
}

export function portsOf({ etcdPort, clusters }: FleetState): number[] {
  const ofClusters = clusters.flatMap((cluster) => [
    cluster.port,
    cluster.controllerManagerPort,
    cluster.schedulerPort,
  ]);
  return [etcdPort, ...ofClusters];
}

/** The same fleet, with another port wherever this one stands. */
export function replacePort(state: FleetState, from: number, to: number): FleetState {
  const swap = (port: number): number => (port === from ? to : port);
  return {
    ...state,
    etcdPort: swap(state.etcdPort),
    clusters: state.clusters.map((cluster) => ({
      ...cluster,
      port: swap(cluster.port),
      controllerManagerPort: swap(cluster.controllerManagerPort),
      schedulerPort: swap(cluster.schedulerPort),
    })),
  };
}
