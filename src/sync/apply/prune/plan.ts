/** Plans what happens to objects that the inventory lists and git no longer declares. Pure. */
import { ANNOTATION_PRUNE, GROUP, PRUNE_NEVER } from '../../../api/names.ts';
import type { IdentityReason, PausedReason } from '../../../api/status/sync-words.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type DeleteVerdict, judgeDeletes } from '../../judge/delete-budget.ts';
import { isProtected } from '../../protected-kinds.ts';
import type { ApplyInput } from '../input.ts';
import { entriesOfUnit, type InventoryEntry } from '../inventory/inventory.ts';
import { isAdopted, isKeptOnPrune, ownerOf } from '../inventory/owner-labels.ts';
import { isKeptByOthers, terminatingReason } from './terminating.ts';

export interface PrunePlan {
  /** `after`: the objects of units that depend on its unit are deleted first. */
  readonly action: 'mark' | 'delete' | 'release' | 'keep' | 'confirm' | 'held' | 'paused' | 'after' | 'wait';
  readonly entry: InventoryEntry;
  readonly because: string;
  /** The object, or what it waits for, is being deleted, and only finalizers of others keep it. */
  readonly keptByOthers?: true;
  /** The reason, if the action is `paused`. */
  readonly pausedBy?: PausedReason;
  /** The reason, if the action is `wait`. */
  readonly waitReason?: IdentityReason;
}

export interface UnitPrunePlan {
  readonly unit: string;
  readonly prune: readonly PrunePlan[];
  readonly verdict: DeleteVerdict;
}

export const REMOVED_FROM_GIT = 'removed from git';
const FOUND_BY_LABELS = 'found by its owner labels, because the inventory did not list it';

/** `declared` holds the keys of all objects that git declares in any unit. */
export function planUnitPrune(input: ApplyInput, unit: string, declared: ReadonlySet<string>): UnitPrunePlan {
  const present = entriesOfUnit(input.inventory, unit);
  const prune = present
    .filter((entry) => !declared.has(objectKey(entry)))
    .map((entry) => planEntry(input, entry));
  // A unit whose objects all moved to other units deletes nothing, so there is nothing to hold.
  const desired = input.units.find((rendered) => rendered.unit === unit)?.objects.length ?? 0;
  const deletes = prune.filter(isDelete);
  const acknowledged = new Set(deletes.filter((plan) => isAcknowledged(input, plan)));
  const judged = new Set(deletes.filter((plan) => !acknowledged.has(plan)));
  const verdict = judgeDeletes(
    {
      unit,
      present: present.length,
      desired,
      deletes: [...judged].map(entryOf),
      acknowledged: [...acknowledged].map(entryOf),
    },
    input.budget,
    { declared: input.acknowledgements, spent: input.inventory.spent },
  );
  const plan = (each: PrunePlan): PrunePlan => (judged.has(each) ? afterVerdict(input, each, verdict) : each);
  return { unit, verdict, prune: prune.map(plan) };
}

function entryOf({ entry }: PrunePlan): InventoryEntry {
  return entry;
}

/** Tells whether the delete was acknowledged for the object that is there now, and not for one whose place it took. */
function isAcknowledged(input: ApplyInput, { entry }: PrunePlan): boolean {
  return entry.acknowledgedBy !== undefined && entry.uid !== undefined && entry.uid === liveUID(input, entry);
}

function liveUID(input: ApplyInput, entry: InventoryEntry): string | undefined {
  const live = input.live(entry);
  return typeof live === 'object' ? live.metadata.uid : undefined;
}

function planEntry(input: ApplyInput, entry: InventoryEntry): PrunePlan {
  const live = input.live(entry);
  if (live === 'unknown') return { action: 'keep', entry, because: input.unknownReason(entry) };
  // Only objects with owner labels are observed: it may exist without them, so it is read by name.
  if (live === 'absent') {
    return { action: 'confirm', entry, because: `${REMOVED_FROM_GIT}, and not observed` };
  }
  return { entry, ...(spareAction(input, entry, live) ?? deleteAction(entry)) };
}

type PruneAction = Pick<PrunePlan, 'action' | 'because' | 'keptByOthers'>;

function spareAction({ hub }: ApplyInput, entry: InventoryEntry, live: KubeObject): PruneAction | undefined {
  const owner = ownerOf(live, { ...entry, hub });
  if (owner !== 'ours') {
    return { action: 'release', because: `${REMOVED_FROM_GIT}, but not ours: ${owner}` };
  }
  if (isKeptOnPrune(live)) {
    return {
      action: 'release',
      because: `${REMOVED_FROM_GIT}, annotated ${ANNOTATION_PRUNE}: ${PRUNE_NEVER}`,
    };
  }
  if (live.metadata.deletionTimestamp) {
    const kept = optional('keptByOthers', isKeptByOthers(live) || undefined);
    return { action: 'confirm', because: terminatingReason(live), ...kept };
  }
  if (entry.adopted || isAdopted(live)) {
    return { action: 'release', because: `${REMOVED_FROM_GIT}; another client created it` };
  }
  const because = inUseReason(live);
  return because === undefined ? undefined : { action: 'keep', because };
}

function deleteAction(entry: InventoryEntry): PruneAction {
  const because = entry.found ? `${REMOVED_FROM_GIT}; ${FOUND_BY_LABELS}` : REMOVED_FROM_GIT;
  if (!isProtected(entry) || entry.markedAt) return { action: 'delete', because };
  return { action: 'mark', because: `${because}; protected, so it is marked first` };
}

function afterVerdict(
  input: ApplyInput,
  plan: PrunePlan,
  { held, because, planDigest, acknowledgedBy }: DeleteVerdict,
): PrunePlan {
  if (held) return { action: 'held', entry: plan.entry, because: `${because}; plan ${planDigest}` };
  const uid = liveUID(input, plan.entry);
  if (acknowledgedBy === undefined || uid === undefined) return plan;
  return { ...plan, entry: { ...plan.entry, uid, acknowledgedBy } };
}

function isDelete({ action }: PrunePlan): boolean {
  return action === 'delete' || action === 'mark';
}

/** Why a MachineComponent has to stay for now: a Machine still runs it or can roll back to it. */
function inUseReason(live: KubeObject): string | undefined {
  if (live.kind !== 'MachineComponent' || !live.apiVersion.startsWith(`${GROUP}/`)) return undefined;
  const used = listAt(live, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'InUse' && textAt(condition, 'status') === 'True',
  );
  if (!used) return undefined;
  const machines = valueAt(live, 'status', 'machines', 'current');
  return `still in use${typeof machines === 'number' ? ` by ${machines} machines` : ''}: kept until no machine refers to it`;
}
