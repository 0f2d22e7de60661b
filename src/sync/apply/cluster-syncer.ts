/** Reconciles one cluster and keeps what it learns about it from one reconcile to the next. */

import type { CorrectedDrift, HealthExpression, UnitIdentity } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { groupOf } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { SyncTimes } from '../../observability/metrics/sync.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { ClusterAssignment } from '../cluster-report.ts';
import {
  type ClusterFailure,
  type ClusterReport,
  type ClusterTarget,
  INVENTORY_DAMAGED,
  LEASE_SUPERSEDED,
  type WorkReport,
} from '../cluster-report.ts';
import type { DecryptionKeys } from '../decrypt-objects.ts';
import { type DriftCorrection, joinDrift, withCorrection } from '../drift-history.ts';
import { createExpressionsCache, type ExpressionsCache } from '../health/expressions/cache.ts';
import type { MachineHealth } from '../health/machine-health.ts';
import { observedIn, targetHealth, unhealthyObjects } from '../health/target-health.ts';
import type { Acknowledgement, DeleteBudget } from '../judge/delete-budget.ts';
import { createOverload, isOverload } from '../overload.ts';
import type { RenderedTarget } from '../rendered.ts';
import type { CommitOrigin } from './audit/apply-audit.ts';
import type { ClusterEvent, SyncContext, SyncTarget } from './context.ts';
import { createAllowedAccess } from './identity/access-reviews.ts';
import type { ServerForm } from './input.ts';
import { EpochSuperseded } from './inventory/config-maps.ts';
import { DamagedInventory, inventoryUnits } from './inventory/inventory.ts';
import type { InventoryStore } from './inventory/store.ts';
import { createClusterContact } from './live/contact.ts';
import { declaredKinds } from './live/kinds.ts';
import type { KindRef } from './live/ports.ts';
import { createAppliedReader } from './ownership/earlier-content.ts';
import type { FieldPolicy } from './ownership/ignored-fields.ts';
import { reportObserved, type SyncSummary, summarizeSync, syncedCondition } from './report.ts';
import { type ClusterSession, IdentityMismatch, openClusterSession, type WriterLease } from './session.ts';
import { observeCluster, syncCluster } from './sync-cluster.ts';
import { createTimeoutBudget } from './timeout-budget.ts';

export interface ClusterSyncerOptions {
  readonly cluster: string;
  /** UID of the hub. */
  readonly hub: string;
  /** Which of the inventories in this cluster is ours. */
  readonly scope: string;
  /** The client calls `fence` as each write leaves; when it throws, nothing is sent. */
  readonly connect: (fence: () => void) => Promise<Client>;
  readonly pinnedUID: () => string | undefined;
  /** The Lease under which this process writes. */
  readonly lease: WriterLease;
  readonly policy: (pipeline: string) => ApplyPolicy;
  /** Returns the keys of encrypted objects. */
  readonly keys?: (pipeline: string) => DecryptionKeys;
  /** Returns what the hub knows about a commit, for the audit record. */
  readonly origin?: (pipeline: string, commit: string) => CommitOrigin;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  readonly recordEvent?: (event: ClusterEvent) => void;
  /** Returns the drift that the hub has recorded. */
  readonly recordedDrift?: () => CorrectedDrift | undefined;
  readonly times?: Pick<SyncTimes, 'driftCorrected'>;
  /** Something changed in the cluster. */
  readonly onChange: () => void;
}

export interface ApplyPolicy {
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
  readonly fieldPolicies?: readonly FieldPolicy[];
  readonly forceManagers?: readonly string[];
  readonly healthExpressions?: readonly HealthExpression[];
  readonly identities?: readonly UnitIdentity[];
  /** The version of the keys of encrypted objects: an object that could not be decrypted is tried again with others. */
  readonly keysVersion?: string;
}

export interface ClusterSyncer {
  reconcile(assignment: ClusterAssignment | undefined, signal: AbortSignal): Promise<SyncSummary['requeue']>;
  /** Records that a reconcile failed, why, and when the next one begins. */
  recordFailure(error: unknown, retryAt?: Date): void;
  report(): ClusterReport;
  /** The next reconcile opens a new session. */
  forgetSession(): void;
  /** The next reconcile reads the inventory again: another process may have written it. */
  forgetInventory(): void;
  close(): Promise<void>;
}

export function createClusterSyncer(options: ClusterSyncerOptions): ClusterSyncer {
  const { clock, log, lease } = options;
  const [serverForms, allowedAccess] = [new Map<string, ServerForm>(), createAllowedAccess(clock)];
  const contact = createClusterContact(clock);
  let session: ClusterSession | undefined;
  /** Until the pin is recorded in the hub, the first cluster that answered is the only one accepted. */
  let firstUID: string | undefined;
  const pinnedUID = (): string | undefined => options.pinnedUID() ?? firstUID;
  let sessionValid = true;
  let state: ObservedState = { identity: 'Unknown' };
  const [overload, compile] = [createOverload(clock), createExpressionsCache()];

  return {
    reconcile: (assignment, signal) =>
      contact.follow(targetKey(assignment, clock.now()), async () =>
        sync(await verifiedSession(signal), assignment, signal),
      ),
    recordFailure,
    report: () => reportOf({ ...state, ...optional('overloadedSince', overload.since()) }, session),
    forgetSession: () => void (sessionValid = false),
    forgetInventory: () => session?.forgetStore(),
    close: async () => session?.close(),
  };

  /** The identity is verified now, or before the first write. */
  async function verifiedSession(signal: AbortSignal): Promise<ClusterSession> {
    if (!sessionValid) session = await closed(session);
    sessionValid = true;
    const isInDoubt = state.failure !== undefined || session?.live.isInterrupted() === true;
    const moment = contact.verifyMoment(isInDoubt);
    if (!session || moment === 'Now') session = await verify(session, signal);
    else if (moment === 'BeforeWrite') session.verifyBeforeWrite();
    return session;
  }

  async function verify(current: ClusterSession | undefined, signal: AbortSignal): Promise<ClusterSession> {
    await current?.verify(signal);
    const open = current ?? (await openClusterSession({ ...options, pinnedUID }, signal));
    firstUID ??= open.clusterUID;
    if (state.failure !== undefined) open.live.retryNow();
    state = { ...state, ...verifiedState(open), lastContactAt: clock.now(), failure: undefined };
    const machineHealth = await contact.readMachines(open.client, state.declared ?? [], signal);
    state = { ...state, machineHealth };
    return open;
  }

  async function sync(
    open: ClusterSession,
    assignment: ClusterAssignment | undefined,
    signal: AbortSignal,
  ): Promise<SyncSummary['requeue']> {
    const store = await readInventory(open, assignment, lease.notHeldReason());
    state = { ...state, commits: commitsIn(store) };
    const content = assignment?.commit ? await assignment.content(assignment.commit) : undefined;
    state = { ...state, units: unitsIn(store, content) };
    if (!assignment?.commit || !content) return 'no';
    const base = { store, serverForms, allowedAccess, recordCorrection, signal };
    const context: SyncContext = { ...contextOf(options, open, assignment), ...base };
    const policy = { ...options.policy(assignment.pipeline), compile };
    const target = targetOf(assignment, assignment.commit, content, policy);
    if (!shouldWrite(assignment, target.digest) || lease.notHeldReason() !== undefined) {
      recordWork(open, target, reportObserved(target.digest, await observeCluster(context, target)));
      return 'no';
    }
    const audit = open.audit.of(assignment.pipeline, target.commit);
    const { work, requeue } = summarizeSync(target.digest, await syncCluster(context, target, audit));
    overload.end();
    state = { ...state, commits: commitsIn(store) };
    recordWork(open, target, work);
    return requeue;
  }

  /** Records a correction at once: a reconcile that fails half-way has corrected something, too. */
  function recordCorrection(correction: DriftCorrection): void {
    state = { ...state, drift: reportCorrection(options, state.drift, correction) };
  }

  function recordWork(open: ClusterSession, target: SyncTarget, work: WorkReport): void {
    overload.recordSuccess();
    state = { ...state, ...stateAfterWork(open, target, work, clock.now()) };
  }

  function recordFailure(error: unknown, retryAt = clock.now()): void {
    // Another sync may have written, or a write may have been cut off: the next reconcile reads the inventory again.
    session?.forgetStore();
    // A later term of this Lease, or that of another one: whose turn it is, is decided by the Lease, which has to be acquired again.
    if (error instanceof EpochSuperseded) lease.raiseEpoch(error.recorded);
    if (isOverload(error)) overload.record();
    state = { ...state, failure: failureOf(error, retryAt), ...stateAfter(error) };
    log.warn('reconcile failed', { cluster: options.cluster, error });
  }
}

/** Tells how long the correction took, and adds it to what this process and the hub know. */
function reportCorrection(
  { times, recordedDrift }: ClusterSyncerOptions,
  known: CorrectedDrift | undefined,
  correction: DriftCorrection,
): CorrectedDrift {
  const { foundAt, correctedAt } = correction;
  times?.driftCorrected(Math.max(0, (Date.parse(correctedAt) - Date.parse(foundAt)) / 1000));
  return withCorrection(joinDrift(known, recordedDrift?.()), correction);
}

async function closed(session: ClusterSession | undefined): Promise<undefined> {
  await session?.close();
}

/** Names the target whose work may be done. While a soak runs, the cluster is asked more often. */
function targetKey(assignment: ClusterAssignment | undefined, now: Date): string | undefined {
  if (!assignment || +(assignment.observeAt ?? 0) > +now) return undefined;
  const { mode, commit, digest, pipeline } = assignment;
  return JSON.stringify([mode, commit, digest, pipeline]);
}

function verifiedState({ clusterUID, version, client }: ClusterSession): Partial<ObservedState> {
  return { clusterUID, version, endpoint: client.server, identity: 'Verified', reachable: true };
}

function stateAfterWork(
  { live }: ClusterSession,
  { commit, digest, units, expressions }: SyncTarget,
  work: WorkReport,
  observedAt: Date,
): Partial<ObservedState> {
  const observed = observedIn(live, expressions);
  const health = targetHealth(units, observed);
  const unhealthy = health.answer === 'Failed' ? unhealthyObjects(units, observed) : [];
  const declared = declaredKinds(units);
  return { work: { ...work, commit }, declared, health: { ...health, digest, observedAt }, unhealthy };
}

/** While another process may write here, what was read before is outdated. */
function readInventory(
  session: ClusterSession,
  assignment: ClusterAssignment | undefined,
  blockedReason: string | undefined,
): Promise<InventoryStore> {
  if (assignment && blockedReason !== undefined) session.forgetStore();
  return session.store();
}

/** Promotion approved a digest, not only a commit: a commit that renders to something else now is observed, not written. */
function shouldWrite({ mode, digest: promoted }: ClusterTarget, rendered: string): boolean {
  return mode === 'Apply' && (promoted ?? rendered) === rendered;
}

/** Returns the part of the context that one session and one assignment determine. */
function contextOf(
  { hub, scope, keys, clock, log, recordEvent }: ClusterSyncerOptions,
  { client, live, ensureVerified }: ClusterSession,
  { content, pipeline }: ClusterAssignment,
): Omit<SyncContext, 'store' | 'serverForms' | 'allowedAccess' | 'recordCorrection' | 'signal'> {
  return {
    client,
    live,
    beforeWrite: ensureVerified,
    hub,
    scope,
    applied: createAppliedReader(content, log),
    timeouts: createTimeoutBudget(),
    clock,
    log,
    ...optional('keys', keys?.(pipeline)),
    ...optional('recordEvent', recordEvent),
  };
}

interface CompilingPolicy extends ApplyPolicy {
  readonly compile: ExpressionsCache;
}

function targetOf(
  { pausedUnits, pausedObjects, provenBefore, isRollback }: ClusterTarget,
  commit: string,
  { digest, units }: RenderedTarget,
  { keysVersion: _keysVersion, healthExpressions, compile, ...policy }: CompilingPolicy,
): SyncTarget {
  const paused = { ...optional('pausedUnits', pausedUnits), ...optional('pausedObjects', pausedObjects) };
  const expressions = compile(healthExpressions);
  return {
    commit,
    digest,
    units,
    expressions,
    ...policy,
    ...paused,
    ...optional('provenBefore', provenBefore),
    ...optional('isRollback', isRollback),
  };
}

function unitsIn(store: InventoryStore, content: RenderedTarget | undefined): string[] {
  const declared = content?.units.map(({ unit }) => unit) ?? [];
  return [...new Set([...inventoryUnits(store.inventory()), ...declared])].toSorted(byCode);
}

/** Every commit for which something in the cluster was written, or was about to be. */
function commitsIn(store: InventoryStore): string[] {
  const ofObjects = [...store.inventory().entries.values()].map(({ commit }) => commit);
  const ofTarget = store.applied()?.commit;
  return [...new Set([...(ofTarget ? [ofTarget] : []), ...ofObjects])].toSorted(byCode);
}

function failureOf(error: unknown, retryAt: Date): ClusterFailure {
  const message = messageOf(error);
  if (error instanceof DamagedInventory) return { reason: INVENTORY_DAMAGED, message };
  if (error instanceof EpochSuperseded) return { reason: LEASE_SUPERSEDED, message };
  if (isOverload(error)) {
    const text = `${message}; the next attempt is at ${retryAt.toISOString()}`;
    return { reason: 'TooManyRequests', message: text, retryAt };
  }
  return { reason: isKubeError(error) ? error.code : 'Error', message };
}

function stateAfter(error: unknown): Partial<ObservedState> {
  if (error instanceof IdentityMismatch) return { identity: 'Mismatch', clusterUID: error.found };
  const unreachable = isKubeError(
    error,
    'Unreachable',
    'Timeout',
    'Unauthorized',
    'Credentials',
    'Config',
    'BadAnswer',
  );
  return unreachable ? { reachable: false } : {};
}

interface ObservedState {
  readonly identity: ClusterReport['identity'];
  readonly reachable?: boolean;
  readonly overloadedSince?: Date;
  readonly lastContactAt?: Date;
  readonly clusterUID?: string;
  readonly version?: string;
  readonly endpoint?: string;
  readonly commits?: readonly string[];
  readonly units?: readonly string[];
  readonly work?: WorkReport;
  /** The kinds of the objects that `work` is about. */
  readonly declared?: readonly KindRef[];
  readonly health?: ClusterReport['health'];
  readonly unhealthy?: ClusterReport['unhealthy'];
  readonly drift?: CorrectedDrift;
  readonly machineHealth?: MachineHealth;
  /** Why the last reconcile failed: until the next one succeeds, observations are not trusted. */
  readonly failure?: ClusterFailure | undefined;
}

function reportOf(
  { declared = [], ...state }: ObservedState,
  session: ClusterSession | undefined,
): ClusterReport {
  const staleReason =
    state.failure?.message ?? session?.live.staleReason() ?? unknownSince(state.work, declared, session);
  const { health, unhealthy, failure, ...rest } = state;
  const trusted = staleReason === undefined && health ? { health, ...optional('unhealthy', unhealthy) } : {};
  const failed = optional('failure', failure);
  return { ...rest, ...failed, ...trusted, synced: syncedCondition(state.work, staleReason) };
}

/** S21: a kind of applied objects became unreadable after the reconcile that reported them as applied. */
function unknownSince(
  work: WorkReport | undefined,
  declared: readonly KindRef[],
  session: ClusterSession | undefined,
): string | undefined {
  if (work?.state !== 'Applied') return undefined;
  const reasons = declared.map(({ apiVersion, kind }) =>
    session?.live.unknownReason({ group: groupOf(apiVersion), kind }),
  );
  return reasons.find(Boolean);
}
