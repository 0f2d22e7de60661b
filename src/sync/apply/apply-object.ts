/** Applies one object. A failure is returned as data, so that one bad object does not stop the others. */
import { MANAGER_SYNC } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { canReplace } from './immutable.ts';
import type { ObjectPlan } from './plan.ts';
import { deleteOwned } from './prune/delete.ts';
import { scopeMismatchReason } from './scope.ts';

export type ApplyOutcome =
  | { readonly outcome: 'applied'; readonly object: KubeObject; readonly replaced: boolean }
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
}

/** Rejects only when no further object can be applied either: aborted, or the server is unreachable. */
export async function applyObject(context: ApplyContext, plan: ObjectPlan): Promise<ApplyOutcome> {
  try {
    return { outcome: 'applied', object: await send(context, plan), replaced: false };
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error)) throw error;
    if (!canReplace(plan, error)) return failure(error);
    return replace(context, plan, error);
  }
}

/** Forced only on objects that are ours already: otherwise a conflict names the other field manager. */
async function send({ client }: ApplyContext, { id, object, ours }: ObjectPlan): Promise<KubeObject> {
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  const mismatch = scopeMismatchReason(resource, id);
  if (mismatch !== undefined) throw new KubeError('Invalid', mismatch, { reason: 'WrongScope' });
  return client.apply(resource, object, { fieldManager: MANAGER_SYNC, force: ours });
}

/** A field is immutable and git allows the replacement: deletes the old object by its UID and creates the new one. */
async function replace(context: ApplyContext, plan: ObjectPlan, error: KubeError): Promise<ApplyOutcome> {
  const deleted = await deleteOwned(context, { ...plan.id, version: versionOf(plan), unit: plan.unit });
  if (deleted.outcome === 'refused' || deleted.outcome === 'not ours') {
    return { ...failure(error), message: `${error.message}; not replaced: ${deleted.because}` };
  }
  // Finalizers may take a while: a later reconcile creates the new object.
  if (deleted.outcome === 'terminating') {
    return { outcome: 'failed', reason: 'Replacing', message: deleted.because, retryable: true };
  }
  return { outcome: 'applied', object: await send(context, plan), replaced: true };
}

function versionOf({ object }: ObjectPlan): string {
  return object.apiVersion.split('/').at(-1) ?? '';
}

/** The next object would fail for the same reason. */
export function stopsAll({ code }: KubeError): boolean {
  return [
    'Unreachable',
    'Timeout',
    'Aborted',
    'Unauthorized',
    'Credentials',
    'TooManyRequests',
    'Config',
  ].includes(code);
}

function failure(error: KubeError): Extract<ApplyOutcome, { outcome: 'failed' }> {
  const retryable = ['ServerError', 'Conflict', 'NotFound', 'Gone', 'BadAnswer'].includes(error.code);
  const conflict = error.causes.some(({ reason }) => reason === 'FieldManagerConflict');
  return {
    outcome: 'failed',
    reason: conflict ? 'FieldConflict' : (error.reason ?? error.code),
    message: error.message,
    retryable: retryable && !conflict,
  };
}
