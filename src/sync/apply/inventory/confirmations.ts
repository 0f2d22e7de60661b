/**
 * Records what the server has confirmed: first in the audit record, then in the inventory. While thousands of objects are written, those
 * that are done are recorded beside them, so that the last write is not followed by seconds of records, and a process that is killed has
 * confirmed most of its work.
 */
import { objectKey } from '../../../kube/objects/object-id.ts';
import type { ObjectOutcome, OutcomeSink } from '../apply-steps.ts';
import type { ReconcileAudit } from '../audit/apply-audit.ts';
import type { ObjectPlan } from '../plan.ts';
import type { InventoryEntry } from './inventory.ts';
import type { InventoryStore } from './store.ts';

export interface ConfirmationsOptions {
  readonly store: Pick<InventoryStore, 'inventory' | 'write'>;
  readonly audit?: ReconcileAudit;
  readonly commit: string;
}

export interface Confirmations extends OutcomeSink {
  /** Takes an outcome, and returns at once. */
  add(outcome: ObjectOutcome): void;
  /** Throws if something could not be recorded: another process may write here, so nothing further is sent. */
  throwIfFailed(): void;
  /** Records the rest. Rejects if anything could not be recorded. */
  finish(): Promise<void>;
  /** Resolves when nothing is being recorded any more, also after a failure. The rest is not recorded. */
  stop(): Promise<void>;
}

/** As many as an inventory ConfigMap has: each batch sends one or two of them again. */
const BATCH = 1000;

export function createConfirmations({ store, audit, commit }: ConfirmationsOptions): Confirmations {
  let pending: ObjectOutcome[] = [];
  let failure: { readonly error: unknown } | undefined;
  let recording = Promise.resolve();

  return {
    add(outcome) {
      pending.push(outcome);
      if (pending.length >= BATCH) recordPending();
    },
    throwIfFailed,
    async finish() {
      recordPending();
      await recording;
      throwIfFailed();
    },
    async stop() {
      pending = [];
      await recording;
    },
  };

  /** One batch after the other: two would write the same ConfigMaps. */
  function recordPending(): void {
    const batch = pending;
    pending = [];
    recording = recordAfter(recording, batch);
  }

  async function recordAfter(before: Promise<void>, batch: readonly ObjectOutcome[]): Promise<void> {
    await before;
    if (failure) return;
    try {
      await record(batch);
    } catch (error) {
      failure = { error };
    }
  }

  async function record(outcomes: readonly ObjectOutcome[]): Promise<void> {
    await audit?.applied(outcomes);
    const { entries } = store.inventory();
    const add = outcomes.flatMap((outcome) => confirmedEntry(outcome, commit, entries));
    await store.write({ add, remove: [] });
  }

  function throwIfFailed(): void {
    if (failure) throw failure.error;
  }
}

/** Returns the entry of an object that is to be, or is, in the cluster for this commit. */
export function inventoryEntry({ id, unit, object }: ObjectPlan, commit: string): InventoryEntry {
  return { ...id, version: object.apiVersion.split('/').at(-1) ?? '', unit, commit };
}

/** Returns nothing for what failed, and for what the inventory has already. */
function confirmedEntry(
  outcome: ObjectOutcome,
  commit: string,
  entries: ReadonlyMap<string, InventoryEntry>,
): readonly InventoryEntry[] {
  if (outcome.state !== 'applied') return [];
  const { plan, uid, adopted } = outcome;
  const confirmed: InventoryEntry = {
    ...inventoryEntry(plan, commit),
    applied: plan.digest,
    ...(uid ? { uid } : {}),
    ...(adopted ? { adopted } : {}),
  };
  const present = entries.get(objectKey(plan.id));
  return present && isConfirmed(present, confirmed) ? [] : [confirmed];
}

function isConfirmed(present: InventoryEntry, confirmed: InventoryEntry): boolean {
  return (['applied', 'uid', 'unit', 'adopted'] as const).every(
    (field) => present[field] === confirmed[field],
  );
}
