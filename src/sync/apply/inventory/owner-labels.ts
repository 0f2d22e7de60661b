/** The labels and annotations by which sync recognizes its objects: the hub that owns them, unit, commit and source. */
import {
  ADOPT_ALLOWED,
  ANNOTATION_ADOPT,
  ANNOTATION_ADOPTED,
  ANNOTATION_COMMIT,
  ANNOTATION_PRUNE,
  ANNOTATION_SOURCE,
  LABEL_HUB,
  LABEL_UNIT,
  MANAGER_SYNC,
  PRUNE_NEVER,
} from '../../../api/names.ts';
import type { KubeObject, ManagedFields } from '../../../kube/objects/object.ts';
import { scopeOfUnit } from '../../hub-scope.ts';
import { type RenderedObject, sourceText } from '../../rendered.ts';

export interface Ownership {
  /** UID of the hub: objects of another hub are never taken over. */
  readonly hub: string;
  readonly unit: string;
  readonly commit: string;
  /** True if another client created the object. */
  readonly adopted?: boolean;
}

/** Returns the object exactly as it is sent: the rendered one with owner labels, and nothing else. */
export function withOwnerLabels(
  { object, source }: RenderedObject,
  { hub, unit, commit, adopted = false }: Ownership,
): KubeObject {
  const { metadata } = object;
  const annotations = {
    ...metadata.annotations,
    [ANNOTATION_COMMIT]: commit,
    ...(sourceText(source) ? { [ANNOTATION_SOURCE]: sourceText(source) } : {}),
  };
  const labels = { ...metadata.labels, [LABEL_HUB]: hub, [LABEL_UNIT]: unit };
  const labeled = { ...object, metadata: { ...metadata, labels, annotations } };
  return adopted ? markAdopted(labeled) : labeled;
}

/** Marks the object as adopted. The annotation is sent in the same write as the owner labels. */
export function markAdopted(object: KubeObject): KubeObject {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [ANNOTATION_ADOPTED]: 'true' };
  return { ...object, metadata: { ...metadata, annotations } };
}

export type ObjectOwner = 'ours' | 'other-unit' | 'other-pipeline' | 'other-hub' | 'nobody';

export interface OwnerClaim {
  readonly hub: string;
  readonly unit: string;
  /** The previous unit, while the object moves. */
  readonly from?: string;
  /** The UID of the object that the server confirmed as ours: an object that moved twice may still name the first unit. */
  readonly uid?: string;
}

export function ownerOf(live: KubeObject, { hub, ...claim }: OwnerClaim): ObjectOwner {
  const { labels = {}, uid } = live.metadata;
  if (labels[LABEL_HUB] === undefined) return 'nobody';
  if (labels[LABEL_HUB] !== hub) return 'other-hub';
  const unit = labels[LABEL_UNIT];
  if (unit !== undefined && scopeOfUnit(unit) !== scopeOfUnit(claim.unit)) return 'other-pipeline';
  return isNamed(unit, claim) || isConfirmed(uid, claim) ? 'ours' : 'other-unit';
}

/** Tells whether the object belongs to another Pipeline. An object that the inventory lists moves between units of one Pipeline. */
export function isOfOtherPipeline(owner: ObjectOwner, entry: unknown): boolean {
  return owner === 'other-pipeline' || (owner === 'other-unit' && entry === undefined);
}

function isNamed(label: string | undefined, { unit, from }: Omit<OwnerClaim, 'hub'>): boolean {
  return label !== undefined && (label === unit || label === from);
}

function isConfirmed(found: string | undefined, { uid }: Omit<OwnerClaim, 'hub'>): boolean {
  return uid !== undefined && uid === found;
}

/** Tells whether git allows sync to take the object and its fields over from others. */
export function adopts({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_ADOPT] === ADOPT_ALLOWED;
}

/**
 * Tells whether the object is annotated as adopted. The annotation is written together with the owner labels, so that it is known
 * even if the inventory is lost.
 */
export function isAdopted({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_ADOPTED] !== undefined;
}

/** Tells whether the server has recorded an apply of sync. Labels can be copied to another object with `kubectl`; this record cannot. */
export function isAppliedBySync({ metadata }: KubeObject): boolean {
  return (metadata.managedFields ?? []).some(isApplyOfSync);
}

export function isApplyOfSync({ manager, operation, subresource }: ManagedFields): boolean {
  return manager === MANAGER_SYNC && operation === 'Apply' && subresource === undefined;
}

/**
 * Tells whether sync created an object that has no owner labels. A person removed them if our other annotations are left; a
 * release removes those too. In doubt another client created it.
 */
export function isCreatedBySync(object: KubeObject): boolean {
  const applied = object.metadata.annotations?.[ANNOTATION_COMMIT] !== undefined && isAppliedBySync(object);
  return applied && !isAdopted(object);
}

export function isKeptOnPrune({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_PRUNE] === PRUNE_NEVER;
}
