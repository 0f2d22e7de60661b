/** Takes away what left git, last of all: only in units whose every object is there, and through the guarded door. */
import { LABEL_HUB, LABEL_UNIT } from '../../api/names.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectKey } from '../../kube/objects/object-id.ts';
import type { ObjectOutcome } from './apply-steps.ts';
import type { SyncContext } from './context.ts';
import { confirmGone, type Deleted, deleteOwned } from './delete.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { ownerOf } from './inventory/owner-labels.ts';
import { groupByStep } from './order.ts';
import type { PrunePlan, TargetPlan } from './plan.ts';
import { runConcurrently } from './run-concurrently.ts';

export interface PruneResult {
  readonly gone: number;
  /** Left git, and still there: why. */
  readonly waiting: readonly { readonly object: string; readonly reason: string; readonly message: string }[];
  /** A protected object was marked, and goes in the next pass. */
  readonly marked: number;
}

interface Done {
  readonly outcomes: ReadonlyMap<string, ObjectOutcome>;
  readonly now: Date;
}

export async function prune(
  context: SyncContext,
  plan: TargetPlan,
  { outcomes, now }: Done,
): Promise<PruneResult> {
  const unfinished = unitsNotThere(plan, outcomes);
  const gone: InventoryEntry[] = [];
  const marked: InventoryEntry[] = [];
  const waiting: { object: string; reason: string; message: string }[] = [];
  try {
    for (const step of groupByStep(plan.left, ({ entry }) => entry).toReversed()) {
      await runConcurrently(step, async (item) => {
        const object = objectKey(item.entry);
        const blocked = unfinished.has(item.entry.unit);
        const result = blocked
          ? waits('ApplyFirst', 'goes when its unit is applied')
          : await take(context, item, now);
        if (result.state === 'marked') marked.push(result.entry);
        if (result.state === 'waits') waiting.push({ object, ...result.why });
        if (result.state === 'gone') {
          gone.push(item.entry);
          context.live.recordDeleted(item.entry);
          context.log.info('object pruned', { object, because: item.because });
        }
      });
    }
  } finally {
    // What is gone leaves the inventory also when the server is lost half-way, as far as it can still be written.
    await context.store.write({ add: marked, remove: gone.map(objectKey) });
  }
  return { gone: gone.length, marked: marked.length, waiting };
}

/** Units of which some object is not there as git says. */
function unitsNotThere({ wanted }: TargetPlan, outcomes: ReadonlyMap<string, ObjectOutcome>): Set<string> {
  const missing = wanted.filter(
    ({ action, id }) => action !== 'same' && outcomes.get(objectKey(id))?.state !== 'applied',
  );
  return new Set(missing.map(({ unit }) => unit));
}

type Taken =
  | { readonly state: 'gone' | 'stays' }
  | { readonly state: 'marked'; readonly entry: InventoryEntry }
  | { readonly state: 'waits'; readonly why: { readonly reason: string; readonly message: string } };

async function take(context: SyncContext, { action, entry, because }: PrunePlan, now: Date): Promise<Taken> {
  context.signal.throwIfAborted();
  switch (action) {
    case 'mark':
      return { state: 'marked', entry: { ...entry, markedAt: now.toISOString() } };
    case 'delete':
      return fate(await guarded(() => deleteOwned(context, entry)));
    case 'confirm':
      return fate(await guarded(() => confirmGone(context, entry, entry.uid)));
    case 'release':
      return release(context, entry, because);
    case 'held':
      return waits('DeletesHeld', because);
    // Kept until a machine lets go of it, or until it can be read: no reason to call the commit unapplied.
    case 'keep':
      return { state: 'stays' };
    default:
      return action satisfies never;
  }
}

function waits(reason: string, message: string): Taken {
  return { state: 'waits', why: { reason, message } };
}

/** A kind that is not served any more is not known to be gone, and an admission policy may refuse the delete. */
async function guarded(act: () => Promise<Deleted>): Promise<Deleted> {
  try {
    return await act();
  } catch (error) {
    if (isKubeError(error, 'NotFound', 'Forbidden', 'Invalid', 'ServerError')) {
      return { outcome: 'refused', because: error.message };
    }
    throw error;
  }
}

function fate(deleted: Deleted): Taken {
  if (deleted.outcome === 'gone') return { state: 'gone' };
  return waits(deleted.outcome === 'terminating' ? 'Terminating' : 'DeleteRefused', deleted.because);
}

/** It stays and is ours no longer. Its marks go too, where they are ours to take off. */
async function release(context: SyncContext, entry: InventoryEntry, because: string): Promise<Taken> {
  const seen = context.live.get(entry);
  if (typeof seen === 'object' && ownerOf(seen, { ...entry, hub: context.hub }) === 'ours') {
    const refused = await unmark(context, seen);
    if (refused) return waits('ReleaseRefused', refused);
  }
  const { unit, commit } = entry;
  context.log.info('object released', { object: objectKey(entry), unit, commit, because });
  return { state: 'gone' };
}

async function unmark(
  { client }: SyncContext,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<string | undefined> {
  const { name, namespace, resourceVersion } = metadata;
  const body = { metadata: { labels: { [LABEL_HUB]: null, [LABEL_UNIT]: null }, resourceVersion } };
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
