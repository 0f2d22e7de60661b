/** Applies one object. A failure is returned as data, so that one bad object does not stop the others. */
import { ADOPT_ALLOWED, ANNOTATION_ADOPT, MANAGER_SYNC } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectKey } from '../../kube/objects/object-id.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import { canReplace } from './immutable.ts';
import { markAdopted } from './inventory/owner-labels.ts';
import type { ReadApplied } from './ownership/earlier-content.ts';
import { conflictingFields, setsField } from './ownership/field-conflict.ts';
import { planTakeover, type Takeover } from './ownership/takeover.ts';
import type { ObjectPlan } from './plan.ts';
import { deleteOwned } from './prune/delete.ts';
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
  const bound: BoundWrite = { precondition: uid === undefined ? NOT_FOUND : { uid }, force };
  try {
    return { outcome: 'applied', object: await send(context, plan, bound), replaced: false, adopted };
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    if (isAnotherObject(plan, error)) return takeOver(context, plan, error);
    return recover(context, plan, { bound, adopted, error });
  }
}

/** A server-side apply that the server refuses unless it is meant for exactly this object. */
interface BoundWrite {
  readonly precondition: { readonly uid: string } | typeof NOT_FOUND;
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
    const taken = adopted ? { ...plan, object: markAdopted(object) } : plan;
    return await writeFound(context, taken, { bound: { precondition: { uid }, force }, adopted });
  } catch (next) {
    if (!isKubeError(next) || stopsAll(next, context)) throw next;
    // Deleted between the two requests: a later reconcile creates it.
    return failure(plan, next.code === 'NotFound' ? error : next);
  }
}

function notWritten(
  id: ObjectId,
  { action, because }: Exclude<Takeover, { action: 'write' }>,
): Extract<ApplyOutcome, { outcome: 'failed' }> {
  const waits = action === 'wait';
  const message = `${objectKey(id)}: ${because}`;
  return { outcome: 'failed', reason: waits ? 'Terminating' : 'NotOurs', message, retryable: waits };
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
  if (!bound.force && (await areOurFields(context, plan, conflictingFields(error)))) {
    return writeFound(context, plan, { bound: { ...bound, force: true }, adopted });
  }
  return canReplace(plan, error) ? replace(context, plan, { bound, error }) : failure(plan, error);
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
  { bound, error }: { readonly bound: BoundWrite; readonly error: KubeError },
): Promise<ApplyOutcome> {
  const { id, unit } = plan;
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
  const object = await send(context, plan, { precondition: NOT_FOUND, force: false });
  return { outcome: 'applied', object, replaced: true, adopted: false };
}

function versionOf({ object }: ObjectPlan): string {
  return object.apiVersion.split('/').at(-1) ?? '';
}

/** Describes an error without the answer of the server, which quotes values: it is shown in logs and in the status. */
function withoutAnswer({ id }: ObjectPlan, { code, reason, causes }: KubeError): string {
  const fields = causes.flatMap(({ field }) => (field === undefined ? [] : [field]));
  const named = fields.length > 0 ? `, fields ${[...new Set(fields)].slice(0, MAX_FIELDS).join(', ')}` : '';
  return `apply ${objectKey(id)}: ${reason ?? code}${named}. The answer is not shown, because the object is encrypted in git`;
}

const MAX_FIELDS = 5;

const CONFLICT_HINT = `Remove these fields from git, or take them over: annotate the object in git with ${ANNOTATION_ADOPT}: ${ADOPT_ALLOWED}`;

function failure(plan: ObjectPlan, error: KubeError): Extract<ApplyOutcome, { outcome: 'failed' }> {
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
