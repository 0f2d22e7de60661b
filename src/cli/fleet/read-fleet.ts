/** Reads the same from each cluster of a fleet: those that the hub lists, or the one cluster of a command. */

import type { Cluster } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { optional } from '../../kube/objects/optional.ts';
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { InCluster } from '../../views/fleet/cluster-column.ts';
import type { ConnectionFlags } from '../connection.ts';
import { EXIT } from '../errors.ts';
import { setExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { printWarnings } from '../output.ts';
import { connectMember } from './connect-cluster.ts';
import { listClusters } from './hub.ts';
import { withCluster } from './read.ts';

export interface ClusterPart<T> {
  /** Absent: the command reads one cluster that is not a hub. */
  readonly cluster?: string;
  readonly found: T;
}

export interface FleetRead<T> {
  /** Whether it comes from a hub: then each part has a cluster. */
  readonly isFleet: boolean;
  readonly parts: readonly ClusterPart<T>[];
  readonly unanswered: readonly Unanswered[];
}

export interface Unanswered {
  readonly cluster: string;
  readonly because: string;
}

export type ReadCluster<T> = (client: Client, signal: AbortSignal) => Promise<T>;

/** As long as a person waits for a list. */
const TIMEOUT_MS = 10_000;

/** Warns of each cluster that did not answer, with what that means, and lets the command end with 69 then. */
export async function readFleet<T>(
  io: Io,
  flags: ConnectionFlags,
  read: ReadCluster<T>,
  meaning = 'is not shown',
): Promise<FleetRead<T>> {
  return await withCluster(io, flags, async (client) => {
    const clusters = await listClusters(client, io.signal);
    if (clusters.length === 0) {
      return { isFleet: false, parts: [{ found: await read(client, io.signal) }], unanswered: [] };
    }
    const found = await readEachCluster(clusters, {
      connect: (cluster, signal) => connectMember({ ...io, signal }, flags, { hub: client, cluster }),
      close: async (each) => (each === client ? undefined : await each.close()),
      read,
      clock: io.clock,
      signal: io.signal,
    });
    warnOf(io, found.unanswered, meaning);
    return found;
  });
}

function warnOf(io: Io, unanswered: readonly Unanswered[], meaning: string): void {
  if (unanswered.length === 0) return;
  printWarnings(
    io,
    unanswered.map(({ cluster, because }) => `cluster ${cluster} ${meaning}: ${because}`),
  );
  setExitCode(io, EXIT.unavailable);
}

export interface ReadClustersOptions<T> {
  readonly connect: (cluster: Cluster, signal: AbortSignal) => Promise<Client>;
  readonly close: (client: Client) => Promise<void>;
  readonly read: ReadCluster<T>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** In the order of the clusters: one that does not answer in time holds up no other, and is named. */
export async function readEachCluster<T>(
  clusters: readonly Cluster[],
  options: ReadClustersOptions<T>,
): Promise<FleetRead<T>> {
  const answers = await runConcurrently(clusters, (cluster) => readOne(cluster, options));
  options.signal.throwIfAborted();
  return {
    isFleet: true,
    parts: answers.flatMap((answer) => ('found' in answer ? [answer] : [])),
    unanswered: answers.flatMap((answer) => ('because' in answer ? [answer] : [])),
  };
}

async function readOne<T>(
  cluster: Cluster,
  { connect, close, read, clock, signal }: ReadClustersOptions<T>,
): Promise<(ClusterPart<T> & { readonly cluster: string }) | Unanswered> {
  const { name } = cluster.metadata;
  const end = new AbortController();
  const limited = AbortSignal.any([signal, end.signal]);
  const isLate = clock.sleep(TIMEOUT_MS, limited).then(
    () => end.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)),
    () => undefined,
  );
  try {
    const client = await connect(cluster, limited);
    try {
      return { cluster: name, found: await read(client, limited) };
    } finally {
      await close(client);
    }
  } catch (error) {
    return { cluster: name, because: messageOf(end.signal.aborted ? end.signal.reason : error) };
  } finally {
    end.abort();
    await isLate;
  }
}

/** Each item with its cluster, where there are several. */
export function itemsOf<T>({ parts }: FleetRead<readonly T[]>): readonly (T & InCluster)[] {
  return parts.flatMap(({ cluster, found }) =>
    found.map((item) => ({ ...item, ...optional('cluster', cluster) })),
  );
}
