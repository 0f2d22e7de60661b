/** One look at a cluster, and one pass: what is known of the cluster between passes is here. */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import type { ClusterReport, ClusterTarget, WorkReport } from '../cluster-report.ts';
import { targetHealth } from '../health/target-health.ts';
import type { Acknowledgement, DeleteBudget } from '../judge/deletes.ts';
import type { RenderedTarget } from '../rendered.ts';
import type { SyncContext, SyncTarget } from './context.ts';
import type { InventoryStore } from './inventory/store.ts';
import type { ServerForm } from './plan.ts';
import { reportObserved, type SyncSummary, summaryOf, syncedCondition } from './report.ts';
import { type ClusterSession, IdentityMismatch, openClusterSession } from './session.ts';
import { observeCluster, syncCluster } from './sync-cluster.ts';

export interface ClusterSyncerOptions {
  readonly cluster: string;
  /** UID of the hub. */
  readonly hub: string;
  /** Which of the inventories of this cluster is ours. */
  readonly scope: string;
  readonly connect: () => Promise<Client>;
  readonly pinnedUID: () => string | undefined;
  /** Why nothing may be written to this cluster now: no Lease. */
  readonly writeBlockedReason: () => string | undefined;
  /** What the target's commit renders to for this cluster. */
  readonly content: (target: ClusterTarget) => Promise<RenderedTarget | undefined>;
  readonly policy: (pipeline: string) => ApplyPolicy;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  /** Something changed in the cluster. */
  readonly onChange: () => void;
}

export interface ApplyPolicy {
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
}

/** The identity is proved again so often, and after every doubt; passes in between cost no request. */
const VERIFY_EVERY_MS = 10_000;

export interface ClusterSyncer {
  round(target: ClusterTarget | undefined, signal: AbortSignal): Promise<SyncSummary['again']>;
  /** The round was lost, and why. */
  lost(error: unknown): void;
  report(): ClusterReport;
  /** The next round connects anew. */
  forgetSession(): void;
  close(): Promise<void>;
}

export function createClusterSyncer(options: ClusterSyncerOptions): ClusterSyncer {
  const { clock, log, writeBlockedReason } = options;
  const serverForms = new Map<string, ServerForm>();
  let session: ClusterSession | undefined;
  /** Who answered first: until the pin is written down, other credentials lead to nobody else. */
  let known: string | undefined;
  const pinnedUID = (): string | undefined => options.pinnedUID() ?? known;
  let stillValid = true;
  let verifiedMs = Number.NEGATIVE_INFINITY;
  let state: State = { identity: 'Unknown' };

  return {
    round: async (target, signal) => pass(await contact(signal), target, signal),
    lost,
    report: () => reportOf(state, session),
    forgetSession: () => {
      stillValid = false;
    },
    close: async () => session?.close(),
  };

  async function contact(signal: AbortSignal): Promise<ClusterSession> {
    if (session && !stillValid) {
      await session.close();
      session = undefined;
    }
    stillValid = true;
    const isDue = state.blind !== undefined || clock.monotonicMs() >= verifiedMs + VERIFY_EVERY_MS;
    if (!session || isDue) session = await proven(session, signal);
    return session;
  }

  async function proven(before: ClusterSession | undefined, signal: AbortSignal): Promise<ClusterSession> {
    await before?.verify(signal);
    const open = before ?? (await openClusterSession({ ...options, pinnedUID }, signal));
    known ??= open.clusterUID;
    verifiedMs = clock.monotonicMs();
    const { clusterUID, version, client } = open;
    const found = { clusterUID, version, endpoint: client.server, identity: 'Verified' } as const;
    state = { ...state, ...found, reachable: true, lastContactAt: clock.now(), blind: undefined };
    return open;
  }

  async function pass(
    open: ClusterSession,
    target: ClusterTarget | undefined,
    signal: AbortSignal,
  ): Promise<SyncSummary['again']> {
    const store = await open.store();
    state = { ...state, commits: commitsIn(store) };
    const content = target?.commit ? await options.content(target) : undefined;
    if (!target?.commit || !content) return 'no';
    const { client, live } = open;
    const context: SyncContext = { client, live, hub: options.hub, store, clock, log, serverForms, signal };
    const { digest, units } = content;
    const wanted: SyncTarget = { commit: target.commit, digest, units, ...options.policy(target.pipeline) };
    if (!isToWrite(target, digest) || writeBlockedReason() !== undefined) {
      remember(open, wanted, reportObserved(digest, await observeCluster(context, wanted)));
      return 'no';
    }
    const { work, again } = summaryOf(digest, await syncCluster(context, wanted));
    state = { ...state, commits: commitsIn(store) };
    remember(open, wanted, work);
    return again;
  }

  function remember({ live }: ClusterSession, { digest, units }: SyncTarget, work: WorkReport): void {
    const health = targetHealth(units, { observe: (id) => live.get(id), staleReason: live.staleReason() });
    state = { ...state, work, health: { ...health, digest, observedAt: clock.now() } };
  }

  function lost(error: unknown): void {
    // What another sync has written, or what was cut off half-way, is read again before the next write.
    session?.forgetStore();
    const blind = error instanceof Error ? error.message : String(error);
    state = { ...state, blind, ...doubts(error) };
    log.warn('pass not finished', { cluster: options.cluster, error });
  }
}

/** What promotion gave is content, not a name: a commit that renders to something else now is only looked at. */
function isToWrite(target: ClusterTarget, digest: string): boolean {
  return target.mode === 'Apply' && (target.digest ?? digest) === digest;
}

/** Every commit that something in the cluster was written for, or was about to be. */
function commitsIn(store: InventoryStore): string[] {
  const named = [...store.inventory().entries.values()].map(({ commit }) => commit);
  const whole = store.applied()?.commit;
  return [...new Set([...(whole ? [whole] : []), ...named])].toSorted(byCode);
}

function doubts(error: unknown): Partial<State> {
  if (error instanceof IdentityMismatch) return { identity: 'Mismatch', clusterUID: error.found };
  const away = isKubeError(
    error,
    'Unreachable',
    'Timeout',
    'Unauthorized',
    'Credentials',
    'Config',
    'BadAnswer',
  );
  return away ? { reachable: false } : {};
}

interface State {
  readonly identity: ClusterReport['identity'];
  readonly reachable?: boolean;
  readonly lastContactAt?: Date;
  readonly clusterUID?: string;
  readonly version?: string;
  readonly endpoint?: string;
  readonly commits?: readonly string[];
  readonly work?: WorkReport;
  readonly health?: ClusterReport['health'];
  /** Why what was seen may not be believed now. */
  readonly blind?: string | undefined;
}

function reportOf({ blind, ...state }: State, session: ClusterSession | undefined): ClusterReport {
  const because = blind ?? session?.live.staleReason();
  const { health, ...rest } = state;
  const believed = because === undefined && health ? { health } : {};
  return { ...rest, ...believed, synced: syncedCondition(state.work, because) };
}
