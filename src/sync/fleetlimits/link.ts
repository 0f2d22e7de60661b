/** The link of the hub to one cluster: it connects, watches the allowance, and connects again when that fails. */
import { FLEET_ALLOWANCES } from '../../api/generated/resources.ts';
import type { Cluster, FleetAllowance } from '../../api/generated/types.ts';
import { createView } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { optional } from '../../kube/objects/optional.ts';
import { backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { readClusterUID } from '../cluster-uid.ts';
import { type ClusterFacts, clusterFacts } from './fleet.ts';
import type { ClusterPort, ClusterReading } from './leader.ts';
import { type AllowanceConnection, readAllowance, writeAllowance } from './stored-allowance.ts';

export interface LinkOptions {
  /** The Cluster object as it is now. */
  readonly cluster: () => Cluster | undefined;
  readonly connect: (cluster: Cluster, onCall: (report: CallReport) => void) => Promise<Client>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Is called when something was read, or cannot be read any more. */
  readonly changed: () => void;
}

export interface AllowanceLink extends ClusterPort {
  /** The address or the credentials have changed. */
  reconnect(): void;
  close(): Promise<void>;
}

const RETRY = { firstMs: 1000, longestMs: 20_000, stableMs: 60_000 };

export function createAllowanceLink(name: string, options: LinkOptions): AllowanceLink {
  const { clock, changed, log } = options;
  const closing = new AbortController();
  let current = new AbortController();
  let connection: AllowanceConnection | undefined;
  let problem = 'not connected yet';
  let skewSeconds: number | undefined;
  const running = run();

  return {
    name,
    facts,
    read: () => reading(),
    write: async (spec, base) =>
      connection ? writeAllowance(connection, { spec, base }, log) : 'NotWritten',
    reconnect: () => current.abort(),
    async close() {
      closing.abort();
      current.abort();
      await running;
    },
  };

  function facts(): ClusterFacts {
    const cluster = options.cluster();
    return cluster ? clusterFacts(cluster) : { name, labels: {} };
  }

  function reading(): ClusterReading {
    if (!connection) return { because: problem };
    return { ...readAllowance(connection.view), ...optional('skewSeconds', skewSeconds) };
  }

  async function run(): Promise<void> {
    let errors = NO_ERRORS;
    while (!closing.signal.aborted) {
      current = new AbortController();
      const signal = AbortSignal.any([closing.signal, current.signal]);
      // oxlint-disable no-await-in-loop -- one connection after the other
      problem = await follow(signal).then(() => 'connecting again', messageOf);
      changed();
      errors = backOffAfterError(errors, { atMs: clock.monotonicMs(), random: options.random() }, RETRY);
      await clock.sleep(errors.delayMs, closing.signal).catch(() => undefined);
      // oxlint-enable no-await-in-loop
    }
  }

  /** Resolves when the connection is to be made again. */
  async function follow(signal: AbortSignal): Promise<void> {
    const cluster = options.cluster();
    if (!cluster) throw new Error(`Cluster ${name} was deleted from the hub`);
    const client = await options.connect(cluster, hearTime);
    try {
      await refuseOther(cluster, client, signal);
      const view = createView<FleetAllowance>({ ...options, client, resource: FLEET_ALLOWANCES });
      view.store.subscribe({ added: changed, updated: changed, removed: changed });
      connection = { client, view };
      void view.reflector.synced(signal).then(changed, () => undefined);
      await view.reflector.run(signal);
    } finally {
      connection = undefined;
      await client.close();
    }
  }

  function hearTime({ serverTime }: CallReport): void {
    // The header has whole seconds.
    if (serverTime) skewSeconds = Math.round((+clock.now() - +serverTime) / 1000);
  }
}

/** A new address may lead to another cluster, which has nothing to do with what this one uses. */
async function refuseOther(cluster: Cluster, client: Client, signal: AbortSignal): Promise<void> {
  const { spec, status, metadata } = cluster;
  const pinned = spec.clusterUID ?? status?.clusterUID;
  const found = await readClusterUID(client, signal);
  if (pinned === undefined || pinned === found) return;
  throw new Error(
    `${client.server} is not Cluster ${metadata.name}: expected cluster UID ${pinned}, found ${found}`,
  );
}
