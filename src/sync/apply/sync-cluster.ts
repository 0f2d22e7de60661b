/**
 * One pass over one cluster: look, plan, write, prune, report. The intent is durable before the first write, what
 * the server confirmed is durable before the first delete, and an entry leaves only when its object is gone.
 */
import type { Client } from '../../kube/client/client.ts';
import { idOf, keyOf } from '../../kube/objects/object-id.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { Acknowledgement, DeleteBudget } from '../judge/deletes.ts';
import type { RenderedUnit } from '../rendered.ts';
import { type Outcome, writeAll } from './apply-steps.ts';
import { type InventoryEntry, intentsFor } from './inventory/inventory.ts';
import type { InventoryStore } from './inventory/store.ts';
import { type Accepted, planTarget, type TargetPlan, type WantedEntry } from './plan.ts';
import type { KindRef, Live } from './ports.ts';
import { type PruneResult, prune } from './prune.ts';

export interface PassContext {
  readonly client: Client;
  readonly live: Live;
  readonly store: InventoryStore;
  /** UID of the hub. */
  readonly hub: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Kept from pass to pass, and lost without harm. */
  readonly accepted: Map<string, Accepted>;
  /** Looked at between two requests: the one in flight completes. */
  readonly signal: AbortSignal;
}

export interface PassTarget {
  readonly commit: string;
  readonly digest: string;
  readonly units: readonly RenderedUnit[];
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
}

export interface PassResult {
  readonly plan: TargetPlan;
  /** By key: what became of each object that git wants. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly pruned: PruneResult;
}

/** Rejects when the server is lost or the signal aborts; everything less is in the result. */
export async function runPass(context: PassContext, target: PassTarget): Promise<PassResult> {
  const { store, clock } = context;
  await context.live.watch(kindsOf(target, store), context.signal);

  const outcomes = new Map<string, Outcome>();
  let plan = planNow(context, target);
  // A CRD of this very commit makes its kind visible: what waited for it gets another round.
  for (let progress = true; progress; ) {
    await store.write({ add: intentsFor(store.inventory(), entriesFor(plan, target.commit)), remove: [] });
    const { unlocked } = await writeAll(context, plan, outcomes);
    await confirm(context, outcomes, target.commit);
    progress = unlocked;
    if (progress) await context.live.watch(kindsOf(target, store), context.signal);
    plan = progress ? planNow(context, target) : plan;
  }
  const pruned = await prune(context, plan, { outcomes, now: clock.now() });
  if (isWhole(plan, outcomes, pruned)) {
    await store.writeApplied({ commit: target.commit, digest: target.digest });
  }
  return { plan, outcomes, pruned };
}

/** What would be done, by what is seen: nothing is written. */
export async function observePass(context: PassContext, target: PassTarget): Promise<TargetPlan> {
  await context.live.watch(kindsOf(target, context.store), context.signal);
  return planNow(context, target);
}

function planNow({ hub, live, store, accepted }: PassContext, target: PassTarget): TargetPlan {
  const { commit, units, budget, acknowledgements } = target;
  const inventory = store.inventory();
  return planTarget({
    hub,
    commit,
    units,
    inventory,
    live: (id) => live.view(id),
    whyUnknown: (id) => live.whyUnknown(id) ?? `${id.kind} cannot be seen in this cluster yet`,
    accepted,
    budget,
    acknowledgements,
  });
}

function kindsOf({ units }: PassTarget, store: InventoryStore): KindRef[] {
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

function entryOf({ id, unit, object }: WantedEntry, commit: string): InventoryEntry {
  return { ...id, version: object.apiVersion.split('/').at(-1) ?? '', unit, commit };
}

async function confirm(
  { store }: PassContext,
  outcomes: ReadonlyMap<string, Outcome>,
  commit: string,
): Promise<void> {
  const { entries } = store.inventory();
  const add = [...outcomes.values()].flatMap((outcome) => {
    if (outcome.state !== 'applied') return [];
    const { entry, object } = outcome;
    const { uid } = object.metadata;
    const confirmed = { ...entryOf(entry, commit), applied: entry.digest, ...(uid ? { uid } : {}) };
    const present = entries.get(keyOf(idOf(object)));
    const known =
      present?.applied === confirmed.applied && present.uid === uid && present.unit === confirmed.unit;
    return known ? [] : [confirmed];
  });
  await store.write({ add, remove: [] });
}

/** Every object is there as in git, and nothing that left git is left, but for what is kept on purpose. */
export function isWhole(
  { wanted, holds }: TargetPlan,
  outcomes: ReadonlyMap<string, Outcome>,
  pruned: PruneResult,
): boolean {
  const there = wanted.every(
    ({ action, id }) => action === 'same' || outcomes.get(keyOf(id))?.state === 'applied',
  );
  return there && holds.length === 0 && pruned.waiting.length === 0;
}
