/** Lists what the ServiceAccount of a unit has to be allowed to do for a plan. Pure. */
import { ANNOTATION_REPLACE, REPLACE_ALLOWED } from '../../../api/names.ts';
import { apiVersionOf } from '../../../kube/client/paths.ts';
import { type ObjectId, objectKey } from '../../../kube/objects/object-id.ts';
import { isGitOnly } from '../../protected-kinds.ts';
import { isWrite, type ObjectPlan, type TargetPlan } from '../plan.ts';
import type { PrunePlan } from '../prune/plan.ts';

export type AccessVerb = 'create' | 'patch' | 'delete';

/** One verb on the objects of one kind in one namespace. */
export interface NeededAccess {
  readonly verb: AccessVerb;
  readonly apiVersion: string;
  readonly kind: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  /** The names of the objects, in the order of the plan. */
  readonly names: readonly string[];
}

/** Returns the access that the writes and the deletes of the unit need. Empty: the plan changes nothing of it. */
export function neededAccess(
  { objects, prune }: Pick<TargetPlan, 'objects' | 'prune'>,
  unit: string,
): readonly NeededAccess[] {
  const found = new Map<string, NeededAccess & { readonly names: string[] }>();
  const need = (verb: AccessVerb, apiVersion: string, id: ObjectId): void => {
    const namespace = authorizedIn(id);
    const key = JSON.stringify([verb, apiVersion, id.kind, namespace]);
    const access = found.get(key) ?? { verb, apiVersion, kind: id.kind, namespace, names: [] };
    access.names.push(id.name);
    found.set(key, access);
  };
  for (const plan of objects.filter((each) => each.unit === unit && isWrite(each))) {
    for (const verb of writeVerbs(plan)) need(verb, plan.object.apiVersion, plan.id);
  }
  for (const { action, entry } of prune) {
    const verb = entry.unit === unit ? PRUNE_VERBS[action] : undefined;
    if (verb) need(verb, apiVersionOf(entry), entry);
  }
  return [...found.values()];
}

/** The server authorizes a request for a Namespace inside of that namespace. */
function authorizedIn({ group, kind, namespace, name }: ObjectId): string {
  return group === '' && kind === 'Namespace' ? name : namespace;
}

/** Only the object that the server confirmed as ours is known to exist. */
function writeVerbs({ uid, object }: ObjectPlan): readonly AccessVerb[] {
  if (uid === undefined) return ['create', 'patch'];
  const isReplaced = object.metadata.annotations?.[ANNOTATION_REPLACE] === REPLACE_ALLOWED;
  return isReplaced ? ['patch', 'delete', 'create'] : ['patch'];
}

const PRUNE_VERBS: Readonly<Partial<Record<PrunePlan['action'], AccessVerb>>> = {
  mark: 'delete',
  delete: 'delete',
  // The owner labels are removed.
  release: 'patch',
};

/** Returns the first object that the plan changes and that no ServiceAccount but that of sync may write. */
export function gitOnlyObject(
  { objects, prune }: Pick<TargetPlan, 'objects' | 'prune'>,
  unit: string,
): string | undefined {
  const written = objects.filter((plan) => plan.unit === unit && isWrite(plan)).map(({ id }) => id);
  const removed = prune.filter(({ action, entry }) => entry.unit === unit && PRUNE_VERBS[action]);
  const found = [...written, ...removed.map(({ entry }) => entry)].find(isGitOnly);
  return found && objectKey(found);
}
