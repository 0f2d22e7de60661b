/**
 * Our contact with one cluster: who it is, what is in its inventory, what is seen in it. A session is for one set of
 * credentials; it survives a server that goes away for a while, and looks at the identity again when that is back.
 */
import type { Client } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { KubeError } from '../../kube/errors.ts';
import { textAt } from '../../kube/json.ts';
import type { Log } from '../../kube/log.ts';
import type { Resource } from '../../kube/object.ts';
import { fenced, type Objection } from './fence.ts';
import { type InventoryStore, openInventory } from './inventory-store.ts';
import { liveView } from './live.ts';
import type { Live } from './ports.ts';

export interface SessionOptions {
  readonly connect: () => Promise<Client>;
  /** The UID that this cluster must have; undefined before the first contact. */
  readonly pinnedUID: () => string | undefined;
  /** Lost Lease, paused: why nothing may be written. */
  readonly mayNotWrite: Objection;
  /** Which of the inventories of this cluster is ours. */
  readonly scope: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly onChange: () => void;
}

export interface Session {
  readonly client: Client;
  readonly live: Live;
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

const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { clock, log, random, scope, onChange } = options;
  let verified: string | undefined;
  const bare = await options.connect();
  const client = fenced(bare, () => {
    const pinned = options.pinnedUID() ?? verified;
    if (verified === undefined || pinned !== verified) return 'the identity of the cluster is not verified';
    return options.mayNotWrite();
  });
  try {
    await verify(signal);
    const version = textAt(await bare.raw('/version', { signal }), 'gitVersion') ?? 'unknown';
    const live = liveView({ client, clock, log, random, onChange });
    let store: Promise<InventoryStore> | undefined;
    return {
      client,
      live,
      clusterUID: verified ?? '',
      version,
      store: () => (store ??= openInventory(client, { clusterUID: verified ?? '', scope })),
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

  async function verify(aborted: AbortSignal): Promise<void> {
    const before = options.pinnedUID() ?? verified;
    verified = undefined;
    const { metadata } = await bare.get(NAMESPACES, { name: 'kube-system' }, { signal: aborted });
    const found = metadata.uid;
    if (!found) throw new KubeError('BadAnswer', `the namespace kube-system on ${bare.server} has no UID`);
    if (before !== undefined && before !== found) throw new IdentityMismatch(bare.server, before, found);
    verified = found;
  }
}
