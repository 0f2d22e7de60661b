/**
 * Previews what a commit would do in one cluster, according to that cluster: the plan of sync over its live objects, and a
 * server-side dry run for each object that the plan would write. Persists nothing.
 */
import { KubeError } from '../../kube/client/errors.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectKey } from '../../kube/objects/object-id.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { type InventoryStore, openInventory } from '../apply/inventory/store.ts';
import { createLiveCache } from '../apply/live/live-cache.ts';
import type { ObjectPlan, TargetPlan } from '../apply/plan.ts';
import { type PrunePlan, REMOVED_FROM_GIT } from '../apply/prune/plan.ts';
import { type ObservedPlan, observeEverywhere } from '../apply/sync-cluster.ts';
import type { RenderedTarget } from '../rendered.ts';
import { type ChangeOptions, changesOf } from './object-changes.ts';
import type { PreviewChange, PreviewLimits, UnitPreview } from './preview.ts';

export interface LivePreviewOptions extends ChangeOptions {
  readonly clusterUID: string;
  readonly scope: string;
  readonly target: RenderedTarget;
  readonly commit: string;
  readonly limits: PreviewLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

export interface LivePreview {
  readonly units: readonly UnitPreview[];
  /** The written objects as the server would store them, with its defaults. Secrets are redacted. */
  readonly written: readonly KubeObject[];
  readonly deleted: readonly ObjectId[];
}

/** Previews the commit in the cluster. Rejects when any part of the cluster cannot be read. */
export async function previewLive(options: LivePreviewOptions): Promise<LivePreview> {
  const plan = await planLive(options);
  const written: KubeObject[] = [];
  const changes = await changesOf(options, plan, (object) => written.push(object));
  const deletes = plan.prune.filter(({ action }) => action === 'delete' || action === 'mark');
  return { units: unitsOf(plan, changes), written, deleted: deletes.map(({ entry }) => entry) };
}

/** Previews only what would be deleted and held: for a server on which the user may not write. Rejects as `previewLive` does. */
export async function previewDeletes(options: LivePreviewOptions): Promise<UnitPreview[]> {
  return unitsOf(await planLive(options), new Map());
}

async function planLive(options: LivePreviewOptions): Promise<TargetPlan> {
  const { client, clusterUID, scope, target, commit, limits } = options;
  const store = await openInventory(client, { clusterUID, scope, epoch: () => undefined });
  const live = createLiveCache({ ...options, onChange: () => undefined });
  try {
    const { digest, units } = target;
    const observe = (inventory: InventoryStore): Promise<ObservedPlan> =>
      observeEverywhere(
        { ...options, live, store: inventory, serverForms: new Map() },
        { commit, digest, units, ...limits },
      );
    const observed = await observe(store);
    // Sync may have listed and applied objects since the inventory was read: those were never missing.
    const plan =
      observed.orphans.length > 0
        ? await observe(await openInventory(client, { clusterUID, scope, epoch: () => undefined }))
        : observed;
    const error = live.readError();
    if (error) throw error;
    const staleReason = live.staleReason();
    if (staleReason !== undefined) throw new KubeError('Unreachable', staleReason);
    return plan;
  } finally {
    await live.close();
  }
}

function unitsOf(plan: TargetPlan, changes: ReadonlyMap<ObjectPlan, PreviewChange>): UnitPreview[] {
  const names = [...plan.objects.map(({ unit }) => unit), ...plan.prune.map(({ entry }) => entry.unit)];
  return [...new Set(names)].toSorted(byCode).flatMap((unit) => {
    const written = plan.objects
      .filter((object) => object.unit === unit)
      .flatMap((object) => changes.get(object) ?? []);
    const removed = plan.prune
      .filter(({ entry, action }) => entry.unit === unit && REMOVALS.has(action))
      .map(removalChange);
    const found = plan.holds.find((hold) => hold.unit === unit);
    const hold = found ? { hold: { planDigest: found.planDigest, because: found.because } } : {};
    const all = [...written, ...removed];
    return all.length > 0 || found ? [{ unit, changes: all, ...hold }] : [];
  });
}

const REMOVALS: ReadonlySet<string> = new Set<PrunePlan['action']>(['delete', 'mark', 'held', 'release']);

function removalChange({ action, entry, because }: PrunePlan): PreviewChange {
  const details = because === REMOVED_FROM_GIT ? [] : [because];
  return { action: action === 'release' ? 'release' : 'delete', object: objectKey(entry), details };
}
