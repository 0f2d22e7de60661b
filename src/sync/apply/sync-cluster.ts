/**
 * Runs one reconcile of one cluster: observe, plan, apply, prune. The intent is durable before the first write, confirmations are
 * durable before the first delete, and an inventory entry is removed only when its object is confirmed deleted.
 */
import { objectKey } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import { decryptObjects } from '../decrypt-objects.ts';
import { observedIn } from '../health/target-health.ts';
import { type AppliedSteps, applySteps, type ObjectOutcome } from './apply-steps.ts';
import type { ReconcileAudit } from './audit/apply-audit.ts';
import type { SyncContext, SyncTarget } from './context.ts';
import { withoutDeniedUnits } from './identity/check.ts';
import { unitAccounts } from './identity/unit-identities.ts';
import type { ApplyInput } from './input.ts';
import { createConfirmations, inventoryEntry } from './inventory/confirmations.ts';
import { type InventoryEntry, missingIntents, spentAfter } from './inventory/inventory.ts';
import { kindsOfMany, usedKinds } from './live/kinds.ts';
import { isWrite, objectsToDecrypt, planTarget, type TargetPlan } from './plan.ts';
import { isSearchDue, type OrphanContext, unwatchedOrphans, watchedOrphans } from './prune/find-orphans.ts';
import { withKeptPolicies } from './prune/kept-policies.ts';
import { withoutPausedParts } from './prune/paused-parts.ts';
import type { PrunePlan } from './prune/plan.ts';
import { describeOrphans, hasMissingEntries, withEntries } from './prune/plan-orphans.ts';
import { type PruneResult, pruneUnits } from './prune/prune.ts';
import { finishedDependency, withUnitOrder } from './unit-order/waiting.ts';

export interface SyncResult {
  readonly plan: TargetPlan;
  /** The outcome of each object that was written, by object key. */
  readonly outcomes: ReadonlyMap<string, ObjectOutcome>;
  readonly pruned: PruneResult;
}

/** Reconciles the cluster. Rejects when the server is unreachable or the signal aborts; all other failures are in the result. */
export async function syncCluster(
  given: SyncContext,
  target: SyncTarget,
  audit?: ReconcileAudit,
): Promise<SyncResult> {
  const context = { ...given, accounts: unitAccounts(target.identities) };
  const plan = await planWrites(context, target);
  const many = kindsOfMany(plan.objects.filter(isWrite).map(({ object }) => object));
  const release = context.live.hold(many);
  try {
    return await carryOut(context, target, { plan, audit });
  } finally {
    release();
  }
}

interface FirstPlan {
  readonly plan: TargetPlan;
  readonly audit: ReconcileAudit | undefined;
}

async function carryOut(context: SyncContext, target: SyncTarget, first: FirstPlan): Promise<SyncResult> {
  const { store, clock } = context;
  const { audit } = first;
  const outcomes = new Map<string, ObjectOutcome>();
  let { plan } = first;
  // Objects that waited for a CRD of this commit, or for a unit that is ready now, are planned again.
  for (let rounds = 1, planned = true; planned; rounds += 1) {
    if (changesCluster(plan)) await store.claim();
    await store.write({
      add: missingIntents(store.inventory(), entriesFor(plan, target.commit)),
      remove: [],
    });
    const { newKinds } = await applyAndConfirm(context, { plan, commit: target.commit, audit }, outcomes);
    // Each round finishes a unit that others wait for: there are not more rounds than units.
    planned = newKinds || (rounds <= target.units.length && finishedDependency(plan, outcomes));
    if (planned) plan = await planWrites(context, target);
  }
  await spendAcknowledgements(context, plan);
  const pruned = await pruneUnits(context, plan, { outcomes, now: clock.now(), ...optional('audit', audit) });
  if (isFullyApplied(plan, outcomes, pruned)) {
    await store.writeApplied({ commit: target.commit, digest: target.digest });
  }
  return { plan, outcomes, pruned };
}

interface ConfirmedSteps extends FirstPlan {
  readonly commit: string;
}

/** Resolves when each object that the server confirmed is recorded. What runs beside the writes has ended in any case. */
async function applyAndConfirm(
  context: SyncContext,
  { plan, commit, audit }: ConfirmedSteps,
  outcomes: Map<string, ObjectOutcome>,
): Promise<AppliedSteps> {
  const confirmations = createConfirmations({ store: context.store, commit, ...optional('audit', audit) });
  try {
    const steps = await applySteps(context, { plan, commit, confirmations }, outcomes);
    await confirmations.finish();
    return steps;
  } finally {
    await confirmations.stop();
  }
}

/** Plans what is written, in the order of the units: nothing of a unit that its ServiceAccount may not write as a whole. */
async function planWrites(context: SyncContext, target: SyncTarget): Promise<TargetPlan> {
  const { store, live } = context;
  const observed = await observeAndList(context, target);
  const ordered = withUnitOrder(observed, {
    units: target.units,
    inventory: store.inventory(),
    live: (id) => live.get(id),
    observed: observedIn(live, target.expressions),
    ...optional('provenBefore', target.provenBefore),
    ...optional('isRollback', target.isRollback),
  });
  // The questions about the permissions of a unit are sent as writes.
  if (changesCluster(ordered)) await context.beforeWrite?.();
  return withoutDeniedUnits(context, ordered);
}

/**
 * Tells whether the plan writes or deletes anything. Waiting and unchanged objects do not count: a process that takes a cluster
 * over without a change writes nothing.
 */
function changesCluster({ objects, prune }: TargetPlan): boolean {
  return (
    objects.some(isWrite) || prune.some(({ action }) => action !== 'after' && !LEAVES_OBJECT.has(action))
  );
}

const LEAVES_OBJECT: ReadonlySet<PrunePlan['action']> = new Set(['keep', 'held', 'paused', 'wait'] as const);

/**
 * Binds what an acknowledgement releases to the UIDs of this plan, before the first delete: first the objects, then the
 * acknowledgement as spent. Killed in between, the next reconcile finds objects that name it, and continues with the same plan.
 */
async function spendAcknowledgements({ store }: SyncContext, { prune }: TargetPlan): Promise<void> {
  const { entries } = store.inventory();
  const bound = prune.flatMap(({ action, entry }) =>
    !LEAVES_OBJECT.has(action) && entry.acknowledgedBy !== undefined ? [entry] : [],
  );
  const add = bound.filter((entry) => entries.get(objectKey(entry))?.acknowledgedBy !== entry.acknowledgedBy);
  await store.write({ add, remove: [] });
  const spent = spentAfter(store.inventory(), bound);
  if (spent) await store.writeSpent(spent);
}

/**
 * Plans by what is observed, and lists orphans: those that are found are durable in the inventory before anything is written or
 * deleted.
 */
async function observeAndList(context: SyncContext, target: SyncTarget): Promise<TargetPlan> {
  const { store, log, recordEvent } = context;
  const observed = await observeEverywhere(context, target);
  const { orphans } = observed;
  if (orphans.length === 0) return observed;
  const message = describeOrphans(orphans);
  log.warn('orphans found', { count: orphans.length, message });
  recordEvent?.({ type: 'Warning', reason: 'SyncOrphansFound', message });
  await store.write({ add: orphans, remove: [] });
  await store.write({
    add: missingIntents(store.inventory(), entriesFor(observed, target.commit)),
    remove: [],
  });
  return observeCluster(context, target);
}

/** The part of the context that an observation needs. It is less than a reconcile needs, because nothing is written. */
export interface ObserveContext extends OrphanContext, Pick<SyncContext, 'serverForms' | 'signal' | 'keys'> {}

export interface ObservedPlan extends TargetPlan {
  /** Our objects that are not in the inventory. The plan treats them as if they were. */
  readonly orphans: readonly InventoryEntry[];
}

/** Plans by what is observed now, also of kinds that are not watched, if entries of the inventory are missing. Writes nothing. */
export async function observeEverywhere(context: ObserveContext, target: SyncTarget): Promise<ObservedPlan> {
  const observed = await observeCluster(context, target);
  if (!isSearchDue(context, hasMissingEntries(observed, observed.orphans))) return observed;
  const found = await unwatchedOrphans(context, target);
  return found.length === 0 ? observed : observeCluster(context, target, found);
}

/** Plans by what is observed now, with these orphans and those among the watched objects. Writes nothing. */
export async function observeCluster(
  context: ObserveContext,
  target: SyncTarget,
  found: readonly InventoryEntry[] = [],
): Promise<ObservedPlan> {
  const { hub, live, store, serverForms, signal, keys } = context;
  const { units, digest: _digest, identities: _identities, isRollback: _isRollback, ...policy } = target;
  const listed = withEntries(store.inventory(), found);
  await live.watch(usedKinds(units, listed), signal);
  const orphans = [...found, ...(await watchedOrphans(context, target, listed))];
  const inventory = withEntries(listed, orphans);
  const observed: ApplyInput = {
    ...policy,
    ...withKeptPolicies(target, units, inventory),
    hub,
    units,
    inventory,
    live: (id) => live.get(id),
    unknownReason: (id) => live.unknownReason(id) ?? `${id.kind} cannot be read in this cluster yet`,
    serverForms,
  };
  const decrypted = keys && (await decryptObjects(objectsToDecrypt(observed), keys));
  const input = { ...observed, ...optional('decrypted', decrypted) };
  return { ...withoutPausedParts(planTarget(input), input), orphans };
}

/**
 * Returns the inventory entries for the objects of the plan. It includes objects that already match git: the inventory may list
 * them under another unit, or not at all.
 */
function entriesFor({ objects }: TargetPlan, commit: string): InventoryEntry[] {
  const listed = objects.filter(({ action }) => action !== 'wait' && action !== 'paused');
  return listed.map((plan) => inventoryEntry(plan, commit));
}

/**
 * Tells whether every object matches git, and no removed object is left except those that are kept on purpose, or by finalizers
 * of others.
 */
function isFullyApplied(
  { objects, holds }: TargetPlan,
  outcomes: ReadonlyMap<string, ObjectOutcome>,
  pruned: PruneResult,
): boolean {
  const allMatch = objects.every(
    ({ action, id }) => action === 'same' || outcomes.get(objectKey(id))?.state === 'applied',
  );
  return allMatch && holds.length === 0 && pruned.waiting.every(({ keptByOthers }) => keptByOthers);
}
