/**
 * One pass over one cluster: look, plan, write, prune, report. The intent is durable before the first write, what
 * the server confirmed is durable before the first delete, and an entry leaves only when its object is gone.
 */
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { applySteps, type ObjectOutcome } from './apply-steps.ts';
import type { SyncContext, SyncTarget } from './context.ts';
import { type InventoryEntry, missingIntents } from './inventory/inventory.ts';
import type { InventoryStore } from './inventory/store.ts';
import { type ObjectPlan, planTarget, type TargetPlan } from './plan.ts';
import type { KindRef } from './ports.ts';
import { type PruneResult, prune } from './prune.ts';

export interface SyncResult {
  readonly plan: TargetPlan;
  /** By key: what became of each object that git wants. */
  readonly outcomes: ReadonlyMap<string, ObjectOutcome>;
  readonly pruned: PruneResult;
}

/** Rejects when the server is lost or the signal aborts; everything less is in the result. */
export async function syncCluster(context: SyncContext, target: SyncTarget): Promise<SyncResult> {
  const { store, clock } = context;
  await context.live.watch(kindsOf(target, store), context.signal);

  const outcomes = new Map<string, ObjectOutcome>();
  let plan = planNow(context, target);
  // A CRD of this very commit makes its kind visible: what waited for it gets another round.
  for (let progress = true; progress; ) {
    await store.write({
      add: missingIntents(store.inventory(), entriesFor(plan, target.commit)),
      remove: [],
    });
    const { unlocked } = await applySteps(context, plan, outcomes);
    await confirm(context, outcomes, target.commit);
    progress = unlocked;
    if (progress) await context.live.watch(kindsOf(target, store), context.signal);
    plan = progress ? planNow(context, target) : plan;
  }
  const pruned = await prune(context, plan, { outcomes, now: clock.now() });
  if (isFullyApplied(plan, outcomes, pruned)) {
    await store.writeApplied({ commit: target.commit, digest: target.digest });
  }
  return { plan, outcomes, pruned };
}

/** What would be done, by what is seen: nothing is written. */
export async function observeCluster(context: SyncContext, target: SyncTarget): Promise<TargetPlan> {
  await context.live.watch(kindsOf(target, context.store), context.signal);
  return planNow(context, target);
}

function planNow({ hub, live, store, serverForms }: SyncContext, target: SyncTarget): TargetPlan {
  const { commit, units, budget, acknowledgements } = target;
  const inventory = store.inventory();
  return planTarget({
    hub,
    commit,
    units,
    inventory,
    live: (id) => live.get(id),
    unknownReason: (id) => live.unknownReason(id) ?? `${id.kind} cannot be seen in this cluster yet`,
    serverForms,
    budget,
    acknowledgements,
  });
}

function kindsOf({ units }: SyncTarget, store: InventoryStore): KindRef[] {
  const wanted = units.flatMap(({ objects }) => objects.map(({ object }) => object));
  const known = [...store.inventory().entries.values()].map(({ group, version, kind }) => ({
    apiVersion: group ? `${group}/${version}` : version,
    kind,
  }));
  const kinds = new Map(
    [...known, ...wanted].map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, { apiVersion, kind }]),
  );
  return [...kinds.values()];
}

/** Also of those that are as in git: they may stand in the inventory under another unit or not at all. */
function entriesFor({ wanted }: TargetPlan, commit: string): InventoryEntry[] {
  return wanted.filter(({ action }) => action !== 'wait').map((entry) => entryOf(entry, commit));
}

function entryOf({ id, unit, object }: ObjectPlan, commit: string): InventoryEntry {
  return { ...id, version: object.apiVersion.split('/').at(-1) ?? '', unit, commit };
}

async function confirm(
  { store }: SyncContext,
  outcomes: ReadonlyMap<string, ObjectOutcome>,
  commit: string,
): Promise<void> {
  const { entries } = store.inventory();
  const add = [...outcomes.values()].flatMap((outcome) => {
    if (outcome.state !== 'applied') return [];
    const { entry, object } = outcome;
    const { uid } = object.metadata;
    const confirmed = { ...entryOf(entry, commit), applied: entry.digest, ...(uid ? { uid } : {}) };
    const present = entries.get(objectKey(objectIdOf(object)));
    const known =
      present?.applied === confirmed.applied && present.uid === uid && present.unit === confirmed.unit;
    return known ? [] : [confirmed];
  });
  await store.write({ add, remove: [] });
}

/** Every object is there as in git, and nothing that left git is left, but for what is kept on purpose. */
export function isFullyApplied(
  { wanted, holds }: TargetPlan,
  outcomes: ReadonlyMap<string, ObjectOutcome>,
  pruned: PruneResult,
): boolean {
  const there = wanted.every(
    ({ action, id }) => action === 'same' || outcomes.get(objectKey(id))?.state === 'applied',
  );
  return there && holds.length === 0 && pruned.waiting.length === 0;
}
