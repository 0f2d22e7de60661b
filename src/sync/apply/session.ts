/**
 * Our contact with one cluster: who it is, what is in its inventory, what is seen in it. A session is for one set of
 * credentials; it survives a server that goes away for a while, and looks at the identity again when that is back.
 */
import type { Client } from '../../kube/client/client.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import { clusterUID } from '../cluster-uid.ts';
import { fenced, type Objection } from './fence.ts';
import { type InventoryStore, openInventory } from './inventory/store.ts';
import { createLiveCache } from './live/live-cache.ts';
import type { LiveCache } from './ports.ts';

export interface ClusterSessionOptions {
  readonly connect: () => Promise<Client>;
  /** The UID that this cluster must have; undefined before the first contact. */
  readonly pinnedUID: () => string | undefined;
  /** Lost Lease, paused: why nothing may be written. */
  readonly writeBlockedReason: Objection;
  /** Which of the inventories of this cluster is ours. */
  readonly scope: string;
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
  /** Opened anew after every failed write: of two syncs, the one that lost must see what the other wrote. */
  store(): Promise<InventoryStore>;
  forgetStore(): void;
  /** Rejects with IdentityMismatch when somebody else answers under this address. */
  verify(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Another cluster answers: nothing is written to it, and a person has to say which one is right. */
export class IdentityMismatch extends Error {
  override readonly name = 'IdentityMismatch';
  readonly found: string;

  constructor(server: string, pinned: string, found: string) {
    super(
      `${server} answers as cluster ${found}, and this Cluster is pinned to ${pinned}: nothing is written. ` +
        'Mend the kubeconfig, or, if the cluster was made anew on purpose, set spec.clusterUID in git',
    );
    this.found = found;
  }
}

export async function openClusterSession(
  options: ClusterSessionOptions,
  signal: AbortSignal,
): Promise<ClusterSession> {
  const { scope } = options;
  let known: string | undefined;
  let trusted = false;
  const bare = await options.connect();
  const client = fenced(bare, () => {
    const pinned = options.pinnedUID() ?? known;
    if (!trusted || pinned !== known) return 'the identity of the cluster is not verified';
    return options.writeBlockedReason();
  });
  try {
    await verify(signal);
    const version = textAt(await bare.raw('/version', { signal }), 'gitVersion') ?? 'unknown';
    const live = createLiveCache({ ...options, client });
    let store: Promise<InventoryStore> | undefined;
    return {
      client,
      live,
      clusterUID: known ?? '',
      version,
      store: () => (store ??= openInventory(client, { clusterUID: known ?? '', scope })),
      forgetStore: () => {
        store = undefined;
      },
      verify,
      close: async () => {
        await live.close();
        await bare.close();
      },
    };
  } catch (error) {
    await bare.close();
    throw error;
  }

  /** Until the answer is in, nothing is written; who it was before stays known, or a stranger would pass for a first contact. */
  async function verify(aborted: AbortSignal): Promise<void> {
    trusted = false;
    const before = options.pinnedUID() ?? known;
    const found = await clusterUID(bare, aborted);
    if (before !== undefined && before !== found) throw new IdentityMismatch(bare.server, before, found);
    known = found;
    trusted = true;
  }
}
