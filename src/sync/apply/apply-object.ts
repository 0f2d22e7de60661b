/** Applies one object. A failure is returned as data, so that one bad object does not stop the others. */
import { ADOPT_ALLOWED, ANNOTATION_ADOPT, MANAGER_SYNC } from '../../api/names.ts';
import { REPLACEMENT_HELD } from '../../api/status/sync-words.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectKey } from '../../kube/objects/object-id.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import { markAdopted } from './inventory/owner-labels.ts';
import type { ReadApplied } from './ownership/earlier-content.ts';
import { conflictingFields, conflictingManagers, setsField } from './ownership/field-conflict.ts';
import { isOwnedByForced } from './ownership/forced-managers.ts';
import { leaveIgnored } from './ownership/ignored-fields.ts';
import { planTakeover, type Takeover } from './ownership/takeover.ts';
import type { ObjectPlan } from './plan.ts';
import { deleteOwned } from './prune/delete.ts';
import { canReplace } from './replace/immutable.ts';
import { readLockedReason } from './replace/locked.ts';
import { scopeMismatchReason } from './scope.ts';
import { stopsAll, type TimeoutBudget } from './timeout-budget.ts';

export type ApplyOutcome =
  | {
      readonly outcome: 'applied';
      readonly object: KubeObject;
      readonly replaced: boolean;
      /** Another client created it. */
      readonly adopted: boolean;
    }
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      readonly message: string;
      /** May succeed without a person's help. */
      readonly retryable: boolean;
    };

type FailedApply = Extract<ApplyOutcome, { outcome: 'failed' }>;

export interface ApplyContext {
  readonly client: Client;
  readonly hub: string;
  readonly applied: ReadApplied;
  readonly timeouts?: TimeoutBudget;
}

/** Rejects only when no further object can be applied either: aborted, or the server does not answer. */
export async function applyObject(context: ApplyContext, plan: ObjectPlan): Promise<ApplyOutcome> {
  const { uid, force } = plan;
  const adopted = uid !== undefined && plan.entry?.adopted === true;
  let write: Write = { plan, bound: { precondition: uid === undefined ? NOT_FOUND : { uid }, force } };
  try {
    write = await withLiveFields(context, write);
    const object = await send(context, write.plan, write.bound);
    return { outcome: 'applied', object, replaced: false, adopted };
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    if (isAnotherObject(plan, error)) return takeOver(context, plan, error);
    return recover(context, write.plan, { bound: write.bound, adopted, error });
  }
}

interface Write {
  readonly plan: ObjectPlan;
  readonly bound: BoundWrite;
}

/**
 * Completes a write with the live values of ignored fields. The watch keeps no record of what sync owns, so the object is read. A
 * creation sends git's values: an object that was observed without a confirmation may be deleted by now.
 */
async function withLiveFields({ client }: ApplyContext, write: Write): Promise<Write> {
  const { uid, ignored, declared } = write.plan;
  if (ignored.length === 0) return write;
  if (uid === undefined) return { ...write, plan: { ...write.plan, object: declared } };
  const resource = await client.resourceFor(declared.apiVersion, declared.kind);
  const found = await client.get(resource, nameOf(declared));
  // Of another object under this name nothing is sent: the server refuses the UID.
  if (found.metadata.uid !== uid) return write;
  const { object, ...version } = leaveIgnored(declared, found, ignored);
  return {
    plan: { ...write.plan, object },
    bound: { ...write.bound, precondition: { uid, ...version } },
  };
}

/** A server-side apply that the server refuses unless it is meant for exactly this object. */
interface BoundWrite {
  readonly precondition: { readonly uid: string; readonly resourceVersion?: string } | typeof NOT_FOUND;
  readonly force: boolean;
}

/**
 * No object has this version: a server compares it with the object that exists, and creates one that does not. So of two
 * clients that create the same name only one succeeds, and what sync creates is known to be created by sync.
 */
const NOT_FOUND = { resourceVersion: '1' };

async function send(
  { client }: ApplyContext,
  { id, object }: ObjectPlan,
  { precondition, force }: BoundWrite,
): Promise<KubeObject> {
  if (isSopsEncrypted(object)) throw new KubeError('Invalid', 'it is not decrypted', { reason: 'Encrypted' });
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  const mismatch = scopeMismatchReason(resource, id);
  if (mismatch !== undefined) throw new KubeError('Invalid', mismatch, { reason: 'WrongScope' });
  const bound = { ...object, metadata: { ...object.metadata, ...precondition } };
  return client.apply(resource, bound, { fieldManager: MANAGER_SYNC, force });
}

/** The name is taken by an object that sync did not expect. */
function isAnotherObject({ uid }: ObjectPlan, { code, causes }: KubeError): boolean {
  if (uid === undefined) return code === 'Conflict';
  return causes.some(({ field }) => field === 'metadata.uid');
}

/** Reads the object and decides by what the server knows about it. */
async function takeOver(context: ApplyContext, plan: ObjectPlan, error: KubeError): Promise<ApplyOutcome> {
  const { client, hub } = context;
  const { id, object } = plan;
  try {
    const resource = await client.resourceFor(object.apiVersion, object.kind);
    const found = await client.get(resource, nameOf(object));
    const { uid = '' } = found.metadata;
    const takeover = planTakeover(plan, found, hub);
    if (takeover.action !== 'write') return notWritten(id, takeover);
    const { force, adopted } = takeover;
    const declared = adopted ? markAdopted(plan.declared) : plan.declared;
    const { object: sent, ...version } = leaveIgnored(declared, found, plan.ignored);
    const bound = { precondition: { uid, ...version }, force };
    return await writeFound(context, { ...plan, object: sent }, { bound, adopted });
  } catch (next) {
    if (!isKubeError(next) || stopsAll(next, context)) throw next;
    // Deleted between the two requests: a later reconcile creates it.
    return failure(plan, next.code === 'NotFound' ? error : next);
  }
}

function notWritten(id: ObjectId, { action, because }: Exclude<Takeover, { action: 'write' }>): FailedApply {
  const waits = action === 'wait';
  return spared(id, { reason: waits ? 'Terminating' : 'NotOurs', because, retryable: waits });
}

interface Spared {
  readonly reason: string;
  readonly because: string;
  readonly retryable: boolean;
}

function spared(id: ObjectId, { reason, because, retryable }: Spared): FailedApply {
  return { outcome: 'failed', reason, message: `${objectKey(id)}: ${because}`, retryable };
}

interface Attempt {
  readonly bound: BoundWrite;
  readonly adopted: boolean;
}

async function writeFound(
  context: ApplyContext,
  plan: ObjectPlan,
  { bound, adopted }: Attempt,
): Promise<ApplyOutcome> {
  try {
    return { outcome: 'applied', object: await send(context, plan, bound), replaced: false, adopted };
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    return recover(context, plan, { bound, adopted, error });
  }
}

async function recover(
  context: ApplyContext,
  plan: ObjectPlan,
  { bound, adopted, error }: Attempt & { readonly error: KubeError },
): Promise<ApplyOutcome> {
  const forced = bound.force ? undefined : await forcedWrite(context, plan, { bound, error });
  if (forced) return writeFound(context, plan, { bound: forced, adopted });
  return canReplace(plan, error) ? replace(context, plan, { bound, error }) : failure(plan, error);
}

interface Refusal {
  readonly bound: BoundWrite;
  readonly error: KubeError;
}

/** Returns the write that decides a conflict for git. Undefined if the fields belong to others. */
async function forcedWrite(
  context: ApplyContext,
  plan: ObjectPlan,
  { bound, error }: Refusal,
): Promise<BoundWrite | undefined> {
  const fields = conflictingFields(error);
  if (fields.length === 0) return undefined;
  if (await areOurFields(context, plan, fields)) return { ...bound, force: true };
  return plan.forceManagers.length === 0 ? undefined : takeFromForced(context, plan, bound);
}

/** Binds the write to the version whose owners were read: a manager that is not named may take a field meanwhile. */
async function takeFromForced(
  { client }: ApplyContext,
  { object, forceManagers }: ObjectPlan,
  { precondition }: BoundWrite,
): Promise<BoundWrite | undefined> {
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  const found = await client.get(resource, nameOf(object));
  const { uid, resourceVersion } = found.metadata;
  if (uid === undefined || resourceVersion === undefined) return undefined;
  if (!isOwnedByForced(object, found, forceManagers)) return undefined;
  // A write that is bound to an earlier version stays so: it contains values of that version.
  return { precondition: { uid, resourceVersion, ...precondition }, force: true };
}

/** Our earlier apply owned all these fields, so that others have taken them since: drift, which git wins. */
async function areOurFields(
  { applied }: ApplyContext,
  { entry }: ObjectPlan,
  fields: readonly string[],
): Promise<boolean> {
  if (fields.length === 0 || entry === undefined) return false;
  const before = await applied(entry);
  return before !== undefined && fields.every((field) => setsField(before, field));
}

/** A field is immutable and git allows the replacement: deletes the old object by its UID and creates the new one. */
async function replace(
  context: ApplyContext,
  plan: ObjectPlan,
  { bound, error }: Refusal,
): Promise<ApplyOutcome> {
  const { id, unit } = plan;
  const locked = await readLockedReason(context.client, plan);
  if (locked !== undefined) return spared(id, { reason: REPLACEMENT_HELD, because: locked, retryable: true });
  const uid = 'uid' in bound.precondition ? { uid: bound.precondition.uid } : {};
  // While the object moves, its label still names the previous unit.
  const target = { ...id, version: versionOf(plan), unit, replaces: true, ...uid } as const;
  const deleted = await deleteOwned(context, target);
  if (deleted.outcome === 'refused' || deleted.outcome === 'not ours') {
    const failed = failure(plan, error);
    return { ...failed, message: `${failed.message}; not replaced: ${deleted.because}` };
  }
  // Finalizers may take a while: a later reconcile creates the new object.
  if (deleted.outcome === 'terminating') {
    return { outcome: 'failed', reason: 'Replacing', message: deleted.because, retryable: true };
  }
  const created = { ...plan, object: plan.declared };
  const object = await send(context, created, { precondition: NOT_FOUND, force: false });
  return { outcome: 'applied', object, replaced: true, adopted: false };
}

function versionOf({ object }: ObjectPlan): string {
  return object.apiVersion.split('/').at(-1) ?? '';
}

/** Describes an error without the answer of the server, which quotes values: it is shown in logs and in the status. */
export function withoutAnswer({ id }: Pick<ObjectPlan, 'id'>, error: KubeError): string {
  const { code, reason, causes } = error;
  const fields = causes.flatMap(({ field }) => (field === undefined ? [] : [field]));
  const named = `${listed('fields', fields)}${listed('managers', conflictingManagers(error))}`;
  return `apply ${objectKey(id)}: ${reason ?? code}${named}. The answer is not shown, because the object is encrypted in git`;
}

const MAX_LISTED = 5;

function listed(what: string, names: readonly string[]): string {
  const shown = [...new Set(names)].slice(0, MAX_LISTED);
  return shown.length > 0 ? `, ${what} ${shown.join(', ')}` : '';
}

const CONFLICT_HINT = `Remove these fields from git, or take them over: annotate the object in git with ${ANNOTATION_ADOPT}: ${ADOPT_ALLOWED}, or name the manager in spec.forceManagers of the Pipeline`;

function failure(plan: ObjectPlan, error: KubeError): FailedApply {
  const message = isSopsEncrypted(plan.rendered.object) ? withoutAnswer(plan, error) : error.message;
  const causes = new Set(error.causes.map(({ reason }) => reason));
  if (causes.has('FieldManagerConflict')) {
    return {
      outcome: 'failed',
      reason: 'FieldConflict',
      message: `${message}. ${CONFLICT_HINT}`,
      retryable: false,
    };
  }
  // Its namespace ends, and can be created again after that.
  if (causes.has('NamespaceTerminating')) {
    return { outcome: 'failed', reason: 'Terminating', message, retryable: true };
  }
  const retryable = ['ServerError', 'Timeout', 'Conflict', 'NotFound', 'Gone', 'BadAnswer'].includes(
    error.code,
  );
  return { outcome: 'failed', reason: error.reason ?? error.code, message, retryable };
}
