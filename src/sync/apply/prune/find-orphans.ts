/** Finds orphans in the cluster: among the watched objects, and after a loss of the inventory in every kind. */
import { LABEL_HUB } from '../../../api/names.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { apiVersionOf, nameOf } from '../../../kube/client/paths.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import type { SyncContext, SyncTarget } from '../context.ts';
import type { Inventory, InventoryEntry } from '../inventory/inventory.ts';
import type { InventoryStore } from '../inventory/store.ts';
import { kindKey, usedKinds } from '../live/kinds.ts';
import type { KindRef } from '../live/ports.ts';
import { stopsAll } from '../timeout-budget.ts';
import { orphanEntry, unlistedObjects } from './plan-orphans.ts';

export interface OrphanContext
  extends Pick<SyncContext, 'client' | 'hub' | 'scope' | 'live' | 'timeouts' | 'clock' | 'log'> {
  readonly store: Pick<InventoryStore, 'inventory' | 'applied'>;
}

/** Live objects are never changed in place, so each version of one is read once. */
const verdicts = new WeakMap<KubeObject, { readonly entry?: InventoryEntry }>();

/** Finds orphans among the objects that are watched. The watch keeps no `managedFields`, so each one is read. */
export async function watchedOrphans(
  context: OrphanContext,
  { commit, units }: SyncTarget,
  inventory: Inventory,
): Promise<InventoryEntry[]> {
  const { hub, scope, live } = context;
  const unlisted = unlistedObjects({ hub, scope, inventory, units, objects: live.owned() });
  const found = await runConcurrently(unlisted, async (object) => {
    const known = verdicts.get(object);
    if (known) return known;
    const verdict = await readVerdict(context, object, commit);
    if (verdict) verdicts.set(object, verdict);
    return verdict;
  });
  return found.flatMap((verdict) => verdict?.entry ?? []);
}

/** Reads one object to tell whether it is an orphan. Undefined if it cannot be read now: then it is not known to be ours. */
async function readVerdict(
  context: OrphanContext,
  object: KubeObject,
  commit: string,
): Promise<{ readonly entry?: InventoryEntry } | undefined> {
  const { client, hub, scope, store } = context;
  try {
    const found = await client.get(await client.resourceFor(object.apiVersion, object.kind), nameOf(object));
    const inventory = store.inventory();
    const [still] = unlistedObjects({ hub, scope, inventory, units: [], objects: [found] });
    const entry = still && orphanEntry(still, commit);
    return entry ? { entry } : {};
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    return undefined;
  }
}

/** Holds, for each inventory that was opened, when every kind has to be searched. It is never due again after a complete search. */
const searches = new WeakMap<OrphanContext['store'], { readonly dueMs: number }>();

/**
 * A failed search is repeated after this time. An API group may stay unavailable for long, and each search costs requests and a
 * line in the log.
 */
const SEARCH_AGAIN_MS = 300_000;

/**
 * Tells whether the kinds that are not watched have to be searched: those that neither git nor the inventory names. They are
 * listed once after entries were found missing, and while no commit is recorded as applied: in a new cluster this finds nothing.
 */
export function isSearchDue({ store, clock }: OrphanContext, hasMissing: boolean): boolean {
  const nowMs = clock.monotonicMs();
  const isNeeded = hasMissing || store.applied() === undefined;
  const search = searches.get(store) ?? (isNeeded ? { dueMs: nowMs } : undefined);
  if (search) searches.set(store, search);
  return search !== undefined && search.dueMs <= nowMs;
}

/** Finds orphans of the kinds that are not watched. A search that fails is repeated later: it does not keep git from being applied. */
export async function unwatchedOrphans(
  context: OrphanContext,
  { commit, units }: SyncTarget,
): Promise<InventoryEntry[]> {
  const { client, hub, scope, store, clock, log } = context;
  const inventory = store.inventory();
  const watched = new Set(usedKinds(units, inventory).map(kindKey));
  try {
    const others = searchedKinds(await client.resources()).filter((each) => !watched.has(kindKey(each)));
    const objects = (await runConcurrently(others, (resource) => listOwned(context, resource))).flat();
    searches.set(store, { dueMs: Number.POSITIVE_INFINITY });
    return unlistedObjects({ hub, scope, inventory, units, objects }).flatMap(
      (object) => orphanEntry(object, commit) ?? [],
    );
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    log.warn('orphans not searched', { error });
    searches.set(store, { dueMs: clock.monotonicMs() + SEARCH_AGAIN_MS });
    return [];
  }
}

/** Returns each kind in one version. Events are left out: they are many, and git declares none of them. */
function searchedKinds(resources: readonly Resource[]): (Resource & KindRef)[] {
  const kinds = new Map<string, Resource & KindRef>();
  for (const resource of resources) {
    const ref = { ...resource, apiVersion: apiVersionOf(resource) };
    if (ref.kind !== 'Event' && !kinds.has(kindKey(ref))) kinds.set(kindKey(ref), ref);
  }
  return [...kinds.values()];
}

/**
 * Lists the objects of a kind that carry the label of this hub. Returns nothing of a kind that has no list, or that sync may not
 * read: sync could not delete it either.
 */
async function listOwned({ client, hub }: OrphanContext, resource: Resource): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  try {
    for await (const { items } of client.pages(resource, { labelSelector: `${LABEL_HUB}=${hub}` })) {
      found.push(...items);
    }
  } catch (error) {
    if (!isKubeError(error, 'Forbidden', 'NotFound', 'Invalid')) throw error;
  }
  return found;
}
