/**
 * The taints of a Node. The list has no owners of its own entries and is written as a whole, so that each write tests the
 * version that was read. Pure.
 */
import type { Taint } from '../../../api/generated/types.ts';
import { TAINT_MAINTENANCE, TAINT_MAINTENANCE_EFFECT, TAINT_NOT_INITIALIZED } from '../../../api/names.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export interface TaintInput {
  readonly desired: readonly Taint[];
  readonly node: KubeObject;
  /** Each `key:effect`. */
  readonly owned: readonly string[];
  readonly mayEvict: boolean;
  readonly removeStartupTaint: boolean;
  /** Whether the Node has the taint for other tools. Undefined: that taint stays as it is. */
  readonly isInMaintenance?: boolean | undefined;
}

export interface TaintPlan {
  readonly operations: readonly JsonPatchOperation[];
  readonly owned: readonly string[];
  readonly conflicts: readonly string[];
  readonly postponed: readonly string[];
}

export function planTaints(input: TaintInput): TaintPlan {
  const { desired, node, owned, mayEvict } = input;
  const present = new Map(taintsOf(node).map((taint) => [idOf(taint), taint]));
  const wrong = desired.filter((taint) => !isSame(present.get(idOf(taint)), taint));
  const ours = wrong.filter((taint) => owned.includes(idOf(taint)) || !present.has(idOf(taint)));
  const set = ours.filter(({ effect }) => mayEvict || effect !== 'NoExecute');
  const ids = desired.map(idOf);
  return {
    operations: operationsFor(input, { set, remove: owned.filter((id) => !ids.includes(id)) }),
    owned: ids.filter((id) => owned.includes(id) || set.some((taint) => idOf(taint) === id)),
    conflicts: wrong.filter((taint) => !ours.includes(taint)).map(idOf),
    postponed: ours.filter((taint) => !set.includes(taint)).map(idOf),
  };
}

interface Changes {
  readonly set: readonly Taint[];
  readonly remove: readonly string[];
}

function operationsFor(input: TaintInput, { set, remove }: Changes): readonly JsonPatchOperation[] {
  const { removeStartupTaint, isInMaintenance } = input;
  const present = taintsOf(input.node);
  const added = [...set, ...maintenanceTaint(present, isInMaintenance)];
  const changed = set.map(idOf);
  const kept = present
    .filter((taint) => !remove.includes(idOf(taint)) && !changed.includes(idOf(taint)))
    .filter(({ key }) => !(removeStartupTaint && key === TAINT_NOT_INITIALIZED))
    .filter(({ key }) => !(isInMaintenance === false && key === TAINT_MAINTENANCE));
  if (added.length === 0 && kept.length === present.length) return [];
  // The whole list, also where there is none yet.
  return [{ op: 'add', path: '/spec/taints', value: [...kept, ...added] }];
}

/** Returns the taint where it is missing. It is known by its key, so it needs no record of who set it. */
function maintenanceTaint(present: readonly Taint[], isInMaintenance: boolean | undefined): readonly Taint[] {
  const isMissing = !present.some(({ key }) => key === TAINT_MAINTENANCE);
  return isInMaintenance === true && isMissing
    ? [{ key: TAINT_MAINTENANCE, effect: TAINT_MAINTENANCE_EFFECT }]
    : [];
}

/** As they are, with fields that we do not know. */
function taintsOf(node: KubeObject): readonly Taint[] {
  return listAt(node, 'spec', 'taints') as readonly Taint[];
}

function idOf({ key, effect }: Pick<Taint, 'key' | 'effect'>): string {
  return `${key}:${effect}`;
}

function isSame(present: Taint | undefined, { value = '' }: Taint): boolean {
  return present !== undefined && (textAt(present, 'value') ?? '') === value;
}
