/** Defines the texts that sync writes into a status and that readers of it recognize. */

/** The reason when an object that git removed is being deleted, and only finalizers of others keep it: no commit waits for it. */
export const FOREIGN_FINALIZER = 'ForeignFinalizer';

/** The reason when deletes wait for an acknowledgement: of a cluster, or of the hub's own objects in `Held` of a Pipeline. */
export const DELETES_HELD = 'DeletesHeld';

/** The reason when an object would be replaced because of what somebody changed in the cluster, and not because of a commit. */
export const REPLACEMENT_HELD = 'ReplacementHeld';

/** All that is left to write or delete is in units, or of objects, that a person paused. */
export const UNIT_PAUSED = 'UnitPaused';
/** All that is left to write or delete is of objects that a person paused. */
export const OBJECT_PAUSED = 'ObjectPaused';
/** The reason when the values of an encrypted object are needed, and the keys do not fit any more. */
export const NOT_DECRYPTED = 'NotDecrypted';
/** The reason when a unit waits for another unit that it depends on. */
export const UNIT_NOT_READY = 'UnitNotReady';
/** The ServiceAccount of the unit may not carry out all of its writes, or sync may not act as it. */
export const IDENTITY_DENIED = 'IdentityDenied';
/** The ServiceAccount of the unit does not exist. */
export const IDENTITY_MISSING = 'IdentityMissing';
/** The server did not answer what the ServiceAccount of the unit may do. */
export const IDENTITY_UNKNOWN = 'IdentityUnknown';
export type IdentityReason = typeof IDENTITY_DENIED | typeof IDENTITY_MISSING | typeof IDENTITY_UNKNOWN;
export type PausedReason = typeof UNIT_PAUSED | typeof OBJECT_PAUSED;

/** Tells whether a person has to decide about a delete or a replacement in the cluster. */
export function isHeldReason(reason: string): boolean {
  return reason === DELETES_HELD || reason === REPLACEMENT_HELD;
}

/** Tells whether only a pause of a unit or an object keeps the work from its end. */
export function isPausedReason(reason: string): reason is PausedReason {
  return reason === UNIT_PAUSED || reason === OBJECT_PAUSED;
}

/** Returns what happened to a cluster whose Pipeline was deleted, and what to do. */
export function deletedPipelineMessage(pipeline: string): string {
  return `Pipeline ${pipeline} was deleted: this cluster is not synced any more, and its objects stay as they are. To sync it again, run: kubenode sync --from REPOSITORY`;
}
