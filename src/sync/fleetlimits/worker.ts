/** Hands out allowances while this process holds the Lease `fleet-limits`: every replica of sync waits for it. */
import { isDeepStrictEqual } from 'node:util';
import { FLEET_POLICIES } from '../../api/generated/resources.ts';
import type { Cluster, FleetPolicy } from '../../api/generated/types.ts';
import { MANAGER_FLEET_LIMITS } from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { API_VERSION } from '../../api/version.ts';
import { staleReason } from '../../kube/cache/freshness.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createView, type View } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import { createHeldLease, type HeldLease } from '../../kube/leader/held-lease.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { LeaseMetrics, WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import { connectCluster, connectionVersion } from '../hub/connection.ts';
import { createWorkerSet, type WorkerSet } from '../hub/worker-set.ts';
import { type FleetHolds, holdsOfFleet, stopOfFleet } from './halted-hub.ts';
import { type AllowanceLeader, createAllowanceLeader, type FleetReconcile } from './leader.ts';
import { FLEET_LIMITS_LEASE } from './lease.ts';
import { type AllowanceLink, createAllowanceLink } from './link.ts';
import { fleetPolicyStatus } from './status.ts';

export interface FleetLimitsOptions {
  readonly client: Client;
  readonly hubUID: string;
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  readonly clusters: Store<Cluster>;
  readonly secrets: Store;
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: LeaseMetrics & WatchMetrics;
  /** A policy was created, changed or deleted. */
  readonly onPolicy: () => void;
}

/** Every process of sync knows what is held. */
export interface FleetLimits extends FleetHolds {
  /** Clusters or their credentials changed. */
  refresh(): void;
  /** Resolves when the policies were read, or cannot be read. */
  read(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const GATHER_MS = 200;
/** A hub that does not serve the kind has no such policy. */
const READ_MS = 3000;
/** Allowances are renewed long before they end; changes trigger a reconcile at once. */
const RECONCILE_MS = 10_000;

interface VersionedLink extends AllowanceLink {
  refresh(): void;
}

/** Holds what this process needs while it holds the Lease. */
interface Term {
  readonly epoch: number;
  readonly leader: AllowanceLeader;
  readonly links: WorkerSet<VersionedLink>;
}

interface TermOptions extends FleetLimitsOptions {
  readonly lease: HeldLease;
  readonly changed: () => void;
}

export function createFleetLimits(given: FleetLimitsOptions): FleetLimits {
  const { clock } = given;
  const options = { ...given, log: given.log.with({ part: FLEET_LIMITS_LEASE.name }) };
  const { log } = options;
  const closing = new AbortController();
  const view = createView<FleetPolicy>({ ...options, resource: FLEET_POLICIES });
  const trigger = (): void => loop.trigger();
  const policyChanged = (): void => {
    trigger();
    options.onPolicy();
  };
  const lease = createHeldLease({ ...options, ...FLEET_LIMITS_LEASE, onChange: trigger });
  let term: Term | undefined;
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });
  view.store.subscribe({ added: policyChanged, updated: policyChanged, removed: policyChanged });
  const watching = view.reflector.run(closing.signal);

  return {
    refresh: trigger,
    stop: () => stopOfFleet(view.store.list(), clock.now()),
    holds: () => holdsOfFleet(view.store.list(), clock.now()),
    read: async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
      await view.reflector.synced(limit).catch(() => undefined);
    },
    async close() {
      await loop.close();
      await term?.links.close();
      closing.abort();
      await watching;
      await lease.close();
    },
  };

  /** Never rejects: the next reconcile tries again. */
  async function round(): Promise<number> {
    try {
      await renewTerm();
      // Without the policies nothing is known to be allowed or forbidden: present allowances stay.
      const isStale = staleReason(view.reflector.freshness(), FLEET_POLICIES.plural) !== undefined;
      if (term && !isStale) await reconcileOnce(term, { ...options, lease, changed: trigger }, view);
    } catch (error) {
      log.warn('fleet limits not reconciled', { error });
    }
    return RECONCILE_MS;
  }

  async function renewTerm(): Promise<void> {
    const epoch = lease.epoch();
    if (term?.epoch === epoch) return;
    const ended = term;
    term = epoch === undefined ? undefined : startTerm(epoch, { ...options, lease, changed: trigger });
    await ended?.links.close();
  }
}

function startTerm(epoch: number, options: TermOptions): Term {
  const { hubUID: hub, clock, log } = options;
  return {
    epoch,
    leader: createAllowanceLeader({
      hub,
      epoch,
      clock,
      failed: (cluster, error) => log.warn('not known whether an allowance was written', { cluster, error }),
    }),
    links: createWorkerSet((name) => startLink(name, options)),
  };
}

async function reconcileOnce(
  { leader, links }: Term,
  options: TermOptions,
  view: View<FleetPolicy>,
): Promise<void> {
  const { lease, log, clusters } = options;
  links.refresh(clusters.list().map(({ metadata }) => metadata.name));
  for (const link of links.all()) link.refresh();
  const policies = view.store.list();
  const found = await leader.reconcile(policies, links.all());
  const { epochAbove } = found;
  if (epochAbove !== undefined) {
    log.warn('a cluster has an allowance whose epoch is not below ours: the hub was restored', {
      epochAbove,
    });
    lease.raiseEpoch(epochAbove);
    return;
  }
  for (const policy of policies) {
    // oxlint-disable-next-line no-await-in-loop -- few, and none is urgent
    await report(policy, found, { ...options, view });
  }
}

async function report(
  policy: FleetPolicy,
  found: FleetReconcile,
  { client, lease, view }: Pick<TermOptions, 'client' | 'lease'> & { readonly view: View<FleetPolicy> },
): Promise<void> {
  const { name, resourceVersion } = policy.metadata;
  const { status } = truncateToSchema({ ...policy, status: fleetPolicyStatus(policy, found) });
  if (isDeepStrictEqual(status, policy.status)) return;
  const metadata = { name, ...optional('resourceVersion', resourceVersion) };
  const intent = { apiVersion: API_VERSION, kind: FLEET_POLICIES.kind, metadata, status };
  const call = { fieldManager: MANAGER_FLEET_LIMITS, force: true, subresource: 'status' };
  view.wrote(await client.apply(FLEET_POLICIES, intent, { ...call, beforeSend: lease.fence }));
}

function startLink(name: string, options: TermOptions): VersionedLink {
  const { clusters, secrets, lease, log } = options;
  const versionOf = (): string => {
    const cluster = clusters.get(name);
    return cluster ? connectionVersion(cluster, secrets) : '';
  };
  let version = versionOf();
  const link = createAllowanceLink(name, {
    ...options,
    cluster: () => clusters.get(name),
    connect: (cluster, onCall) => connectCluster(cluster, { ...options, fence: lease.fence, onCall }),
    log: log.with({ cluster: name }),
  });
  return {
    ...link,
    refresh() {
      if (versionOf() === version) return;
      version = versionOf();
      link.reconnect();
    },
  };
}
