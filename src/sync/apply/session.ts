/**
 * A connection to one cluster: its verified identity, its inventory and its live objects. A session belongs to one set of
 * credentials. It survives an outage of the API server and verifies the identity again afterwards.
 */
import { createAuditRecord } from '../../api/audit/record.ts';
import { MANAGER_SYNC } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { textAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import { readClusterUID } from '../cluster-uid.ts';
import { type ApplyAudit, type CommitOrigin, createApplyAudit } from './audit/apply-audit.ts';
import { CLUSTER_SCOPE } from './inventory/config-maps.ts';
import { type InventoryStore, openInventory } from './inventory/store.ts';
import { VERIFY_WITHIN_MS } from './live/contact.ts';
import { createLiveCache } from './live/live-cache.ts';
import type { LiveCache } from './live/ports.ts';

export type WriterLease = Pick<HeldLease, 'notHeldReason' | 'epoch' | 'raiseEpoch'>;

export interface ClusterSessionOptions {
  readonly cluster: string;
  /** The client calls `fence` as each write leaves; when it throws, nothing is sent. */
  readonly connect: (fence: () => void) => Promise<Client>;
  /** The UID that this cluster must have; undefined before the first contact. */
  readonly pinnedUID: () => string | undefined;
  /** The Lease under which this process writes. */
  readonly lease: WriterLease;
  /** Which of the inventories in this cluster is ours. */
  readonly scope: string;
  readonly origin?: (pipeline: string, commit: string) => CommitOrigin;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  readonly onChange: () => void;
}

export interface ClusterSession {
  readonly client: Client;
  readonly live: LiveCache;
  readonly clusterUID: string;
  readonly version: string;
  readonly audit: ApplyAudit;
  /** Read again after every failed write: when two syncs conflict, the one that lost must see what the other wrote. */
  store(): Promise<InventoryStore>;
  forgetStore(): void;
  /** Rejects with IdentityMismatch when another cluster answers at this address. */
  verify(signal: AbortSignal): Promise<void>;
  /** Nothing is written until the identity is verified again, which the first write does. A reconcile without a write asks nothing. */
  verifyBeforeWrite(): void;
  /** Verifies the identity, unless that is done. Called before each write. */
  readonly ensureVerified: () => Promise<void>;
  close(): Promise<void>;
}

/** Another cluster answers: nothing is written to it until a person decides which one is right. */
export class IdentityMismatch extends Error {
  override readonly name = 'IdentityMismatch';
  readonly found: string;

  constructor(server: string, pinned: string, found: string) {
    super(
      `${server} answers as cluster ${found}, and this Cluster is pinned to ${pinned}: nothing is written. ` +
        'Fix the kubeconfig. If the cluster was recreated on purpose, set spec.clusterUID in git',
    );
    this.found = found;
  }
}

export async function openClusterSession(
  options: ClusterSessionOptions,
  signal: AbortSignal,
): Promise<ClusterSession> {
  const { scope, lease, cluster, clock, log } = options;
  const shared = { cluster, clock, log, ...optional('origin', options.origin) };
  const closing = new AbortController();
  let known: string | undefined;
  let verified = false;
  const client = await options.connect(fence);
  try {
    await verify(signal);
    const version = textAt(await client.raw('/version', { signal }), 'gitVersion') ?? 'unknown';
    const live = createLiveCache({ ...options, client });
    const writer = scope === CLUSTER_SCOPE ? 'sync' : 'hub';
    const record = createAuditRecord({ client, writer, fieldManager: MANAGER_SYNC });
    let store: Promise<InventoryStore> | undefined;
    return {
      client,
      live,
      clusterUID: known ?? '',
      version,
      audit: createApplyAudit({ ...shared, record }),
      store: () =>
        (store ??= openInventory(client, {
          clusterUID: known ?? '',
          scope,
          epoch: () => lease.epoch(),
          beforeWrite: ensureVerified,
        })),
      forgetStore: () => {
        store = undefined;
      },
      verify,
      verifyBeforeWrite: () => void (verified = false),
      ensureVerified,
      close: async () => {
        closing.abort();
        await live.close();
        await client.close();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }

  function fence(): void {
    const pinned = options.pinnedUID() ?? known;
    const because =
      verified && pinned === known ? lease.notHeldReason() : 'the identity of the cluster is not verified';
    if (because !== undefined) throw new Error(because);
  }

  async function ensureVerified(): Promise<void> {
    if (!verified) await verify(closing.signal);
  }

  /**
   * Writes are blocked until the answer arrives. The UID found before is kept, so that another cluster is never taken for
   * a first contact.
   */
  async function verify(aborted: AbortSignal): Promise<void> {
    verified = false;
    const expected = options.pinnedUID() ?? known;
    const found = await readClusterUID(client, aborted, { timeoutMs: VERIFY_WITHIN_MS });
    if (expected !== undefined && expected !== found) {
      throw new IdentityMismatch(client.server, expected, found);
    }
    known = found;
    verified = true;
  }
}
