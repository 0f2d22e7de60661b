/** Writes one object, and says how it went: a failure is data here, so that one bad object does not stop the others. */
import { MANAGER_SYNC } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, type KubeError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { deleteOwned } from './delete.ts';
import { canReplace } from './immutable.ts';
import type { ObjectPlan } from './plan.ts';

export type Written =
  | { readonly outcome: 'applied'; readonly object: KubeObject; readonly replaced: boolean }
  /** By what the caller does next: retry soon, wait for others, or tell a person. */
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      readonly message: string;
      readonly passing: boolean;
    };

export interface ApplyContext {
  readonly client: Client;
  readonly hub: string;
}

/** Rejects only when nothing is known about any object any more: aborted, or no server. */
export async function applyObject(context: ApplyContext, entry: ObjectPlan): Promise<Written> {
  try {
    return { outcome: 'applied', object: await send(context, entry), replaced: false };
  } catch (error) {
    if (!isKubeError(error) || losesServer(error)) throw error;
    if (!canReplace(entry, error)) return failure(error);
    return replace(context, entry, error);
  }
}

/** Where the object was ours already, what git says wins; else a manager with other wishes is named, not overruled. */
async function send({ client }: ApplyContext, { object, ours }: ObjectPlan): Promise<KubeObject> {
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  return client.apply(resource, object, { fieldManager: MANAGER_SYNC, force: ours });
}

/** Immutable, and git allows it for this object: the old one goes by its UID, the new one comes. */
async function replace(context: ApplyContext, entry: ObjectPlan, error: KubeError): Promise<Written> {
  const deleted = await deleteOwned(context, { ...entry.id, version: versionOf(entry), unit: entry.unit });
  if (deleted.outcome === 'refused') {
    return { ...failure(error), message: `${error.message}; not replaced: ${deleted.because}` };
  }
  // Finalizers may take their time: the next pass creates it.
  if (deleted.outcome === 'terminating') {
    return { outcome: 'failed', reason: 'Replacing', message: deleted.because, passing: true };
  }
  return { outcome: 'applied', object: await send(context, entry), replaced: true };
}

function versionOf({ object }: ObjectPlan): string {
  return object.apiVersion.split('/').at(-1) ?? '';
}

/** After one of these, asking for the next object is of no use. */
function losesServer({ code }: KubeError): boolean {
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

function failure(error: KubeError): Extract<Written, { outcome: 'failed' }> {
  const passing = ['ServerError', 'Conflict', 'NotFound', 'Gone', 'BadAnswer'].includes(error.code);
  const conflict = error.causes.some(({ reason }) => reason === 'FieldManagerConflict');
  return {
    outcome: 'failed',
    reason: conflict ? 'FieldConflict' : (error.reason ?? error.code),
    message: error.message,
    passing: passing && !conflict,
  };
}
