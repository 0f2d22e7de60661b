/** Deletes what git no longer declares, after everything else, and after what may replace or still use it is applied. */
import {
  ANNOTATION_ADOPTED,
  ANNOTATION_COMMIT,
  ANNOTATION_SOURCE,
  LABEL_HUB,
  LABEL_UNIT,
} from '../../../api/names.ts';
import {
  DELETES_HELD,
  FOREIGN_FINALIZER,
  IDENTITY_UNKNOWN,
  UNIT_PAUSED,
} from '../../../api/status/sync-words.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Log } from '../../../kube/process/log.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import { isCrdId } from '../../protected-kinds.ts';
import type { ObjectOutcome } from '../apply-steps.ts';
import type { ReconcileAudit } from '../audit/apply-audit.ts';
import type { PrunedObject } from '../audit/lines.ts';
import type { SyncContext } from '../context.ts';
import { unitClient } from '../identity/unit-identities.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { ownerOf } from '../inventory/owner-labels.ts';
import { definedKind, groupByStep } from '../order.ts';
import type { TargetPlan } from '../plan.ts';
import { stopsAll } from '../timeout-budget.ts';
import { confirmDeleted, deleteOwned, type OwnedDeleteOutcome } from './delete.ts';
import type { PrunePlan } from './plan.ts';
import { postponedReason, type UnappliedObject, unappliedObjects } from './postpone.ts';

export interface PruneResult {
  readonly deleted: number;
  /** Objects that still exist, each with the reason. */
  readonly waiting: readonly WaitingObject[];
  /** Protected objects that were marked: the next reconcile deletes them. */
  readonly marked: number;
}

export interface WaitingObject extends Wait {
  readonly object: string;
  readonly unit: string;
}

interface Wait {
  readonly reason: string;
  readonly message: string;
  /** Only finalizers of others keep the object, or what it waits for. It is reported, and no commit waits for it. */
  readonly keptByOthers?: true;
}

interface Applied {
  readonly outcomes: ReadonlyMap<string, ObjectOutcome>;
  readonly now: Date;
  readonly audit?: Pick<ReconcileAudit, 'removed'>;
}

export async function pruneUnits(
  context: SyncContext,
  plan: TargetPlan,
  { outcomes, now, audit }: Applied,
): Promise<PruneResult> {
  const unapplied = unappliedObjects(plan, outcomes);
  const removed: PrunedObject[] = [];
  let deleted = 0;
  const marked: InventoryEntry[] = [];
  const waiting: WaitingObject[] = [];
  const waitingOfKind = new Map<string, WaitingObject>();
  try {
    for (const step of groupByStep(plan.prune, ({ entry }) => entry).toReversed()) {
      await runConcurrently(step, async (item) => {
        const object = objectKey(item.entry);
        const result =
          waitForUnit(item, unapplied) ??
          waitForKind(context, item, waitingOfKind) ??
          (await pruneObject(context, item, now));
        if (result.state === 'marked') marked.push(result.entry);
        if (result.state === 'waits') {
          const found = { object, unit: item.entry.unit, ...result.why };
          waiting.push(found);
          recordWaiting(waitingOfKind, kindOf(item.entry), found);
        }
        const act = REMOVED[result.state];
        if (act === undefined) return;
        removed.push({ entry: item.entry, act, because: item.because });
        context.live.recordDeleted(item.entry);
        if (act === 'Released') return;
        deleted += 1;
        context.log.info('object pruned', { object, because: item.because });
      });
    }
  } finally {
    // Also when the server is lost half-way: the inventory is written as far as that is still possible.
    await audit?.removed(removed);
    await context.store.write({ add: marked, remove: removed.map(({ entry }) => objectKey(entry)) });
  }
  return { deleted, marked: marked.length, waiting };
}

const REMOVED: Readonly<Partial<Record<PruneOutcome['state'], PrunedObject['act']>>> = {
  deleted: 'Deleted',
  released: 'Released',
};

function waitForUnit(item: PrunePlan, unapplied: readonly UnappliedObject[]): PruneOutcome | undefined {
  const reason = postponedReason(item, unapplied);
  return reason === undefined ? undefined : waits('ApplyFirst', reason);
}

/** Without its CRD the server deletes an object, whatever that waits for, and it can never be confirmed as deleted. */
function waitForKind(
  { live }: SyncContext,
  { action, entry }: PrunePlan,
  waitingOfKind: ReadonlyMap<string, WaitingObject>,
): PruneOutcome | undefined {
  const isDelete = action === 'delete' || action === 'mark';
  const crd = isDelete && isCrdId(entry) ? live.get(entry) : undefined;
  const first = typeof crd === 'object' ? waitingOfKind.get(definedKind(crd)) : undefined;
  return first === undefined
    ? undefined
    : waits('DeleteFirst', `deleted after ${first.object}, which is of its kind`, first.keptByOthers);
}

/** A commit waits for the kind as long as it waits for one object of it. */
function recordWaiting(waitingOfKind: Map<string, WaitingObject>, kind: string, found: WaitingObject): void {
  const first = waitingOfKind.get(kind);
  if (first === undefined || first.keptByOthers) waitingOfKind.set(kind, found);
}

function kindOf({ group, kind }: InventoryEntry): string {
  return `${group}/${kind}`;
}

/** The reason when a delete waits for those of units that depend on its unit. */
export const AFTER_DEPENDENTS = 'AfterDependents';

type PruneOutcome =
  /** `released`: it stays in the cluster and is not ours. */
  | { readonly state: 'deleted' | 'released' | 'kept' }
  | { readonly state: 'marked'; readonly entry: InventoryEntry }
  | { readonly state: 'waits'; readonly why: Wait };

async function pruneObject(context: SyncContext, plan: PrunePlan, now: Date): Promise<PruneOutcome> {
  const { action, entry, because } = plan;
  context.signal.throwIfAborted();
  if (isWait(action)) return waits(WAIT_REASONS[action](plan), because, plan.keptByOthers);
  switch (action) {
    case 'mark':
      return { state: 'marked', entry: { ...entry, markedAt: now.toISOString() } };
    case 'delete':
      return deleteOrRelease(context, entry);
    case 'confirm':
      return afterConfirm(
        context,
        entry,
        await withErrorsAsRefusals(context, () => confirmDeleted(context, entry, entry.uid)),
      );
    case 'release':
      return release(context, entry, because);
    // Kept while a machine uses it, or while it cannot be read. The commit still counts as applied.
    case 'keep':
      return { state: 'kept' };
    default:
      return action satisfies never;
  }
}

type WaitAction = Extract<PrunePlan['action'], 'held' | 'paused' | 'after' | 'wait'>;

const WAIT_REASONS: Readonly<Record<WaitAction, (plan: PrunePlan) => string>> = {
  held: () => DELETES_HELD,
  paused: ({ pausedBy = UNIT_PAUSED }) => pausedBy,
  after: () => AFTER_DEPENDENTS,
  wait: ({ waitReason = IDENTITY_UNKNOWN }) => waitReason,
};

function isWait(action: PrunePlan['action']): action is WaitAction {
  return Object.hasOwn(WAIT_REASONS, action);
}

async function deleteOrRelease(context: SyncContext, entry: InventoryEntry): Promise<PruneOutcome> {
  const result = await withErrorsAsRefusals(context, () => deleteOwned(asUnit(context, entry), entry));
  return result.outcome === 'not ours' ? release(context, entry, result.because) : afterDelete(result);
}

/** Deletes and patches are sent as the ServiceAccount of the unit. */
function asUnit(context: SyncContext, { unit }: InventoryEntry): SyncContext {
  return { ...context, client: unitClient(context, unit) };
}

function waits(reason: string, message: string, keptByOthers?: true): PruneOutcome {
  return { state: 'waits', why: { reason, message, ...optional('keptByOthers', keptByOthers) } };
}

/** An object of a kind that is no longer served may still exist, and an admission policy may refuse the delete. */
async function withErrorsAsRefusals(
  context: SyncContext,
  act: () => Promise<OwnedDeleteOutcome>,
): Promise<OwnedDeleteOutcome> {
  try {
    return await act();
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    return { outcome: 'refused', because: error.message };
  }
}

/** An object that is not ours stays, and the log is the record of its release. */
function afterConfirm({ log }: SyncContext, entry: InventoryEntry, result: OwnedDeleteOutcome): PruneOutcome {
  if (result.outcome !== 'not ours') return afterDelete(result);
  logRelease(log, entry, result.because);
  return { state: 'released' };
}

function afterDelete(result: OwnedDeleteOutcome): PruneOutcome {
  if (result.outcome === 'deleted') return { state: 'deleted' };
  const { outcome, because } = result;
  if (outcome !== 'terminating') return waits('DeleteRefused', because);
  return result.keptByOthers ? waits(FOREIGN_FINALIZER, because, true) : waits('Terminating', because);
}

/** The object stays and is ours no longer. Its owner labels are removed if they are ours. */
async function release(context: SyncContext, entry: InventoryEntry, because: string): Promise<PruneOutcome> {
  const live = context.live.get(entry);
  if (typeof live === 'object' && ownerOf(live, { ...entry, hub: context.hub }) === 'ours') {
    const refusal = await removeOwnerLabels(asUnit(context, entry), live);
    if (refusal !== undefined) return waits('ReleaseRefused', refusal);
  }
  logRelease(context.log, entry, because);
  return { state: 'released' };
}

function logRelease(log: Log, entry: InventoryEntry, because: string): void {
  const { unit, commit } = entry;
  log.info('object released', { object: objectKey(entry), unit, commit, because });
}

/** Returns why the server refused, if it did. */
async function removeOwnerLabels(
  { client }: SyncContext,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<string | undefined> {
  const { name, namespace, resourceVersion } = metadata;
  const labels = { [LABEL_HUB]: null, [LABEL_UNIT]: null };
  const annotations = {
    [ANNOTATION_COMMIT]: null,
    [ANNOTATION_SOURCE]: null,
    [ANNOTATION_ADOPTED]: null,
  };
  const body = { metadata: { labels, annotations, resourceVersion } };
  try {
    const resource = await client.resourceFor(apiVersion, kind);
    await client.patch(resource, { name, ...(namespace ? { namespace } : {}) }, { type: 'merge', body });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    if (isKubeError(error, 'Conflict', 'Forbidden', 'Invalid')) return error.message;
    throw error;
  }
  return undefined;
}
