/** Decides which part of an object a write may change, and which writes are refused. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import type { KubeObject, Metadata } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { JsonPatchFailed, patchJson } from './json-patch.ts';
import { DEFAULT_TYPE, type ServedKind } from './kinds.ts';
import type { FieldWriter } from './ownership.ts';
import { ApiRefusal } from './refusal.ts';

export interface ObjectWriteOptions {
  readonly manager: string;
  readonly subresource?: string;
  readonly force?: boolean;
}

/** Another object of that name, or another version of it, is left alone. */
export type ObjectVersion = Pick<Metadata, 'uid' | 'resourceVersion'>;

export function writerOf(
  { type = DEFAULT_TYPE }: ServedKind,
  { manager, subresource }: ObjectWriteOptions,
): FieldWriter {
  return { type, manager, subresource };
}

export function keyOfWriter({ manager, subresource = '' }: ObjectWriteOptions): string {
  return `${manager} ${subresource}`;
}

export function identityOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...optional('namespace', namespace) } };
}

/** Returns what a write to this subresource may change. */
export function inScope(kind: ServedKind, object: KubeObject, subresource: string | undefined): KubeObject {
  const { status, ...rest } = object;
  const own = optional('status', status);
  if (subresource === 'status') return { ...identityOf(object), ...own };
  const { uid: _, resourceVersion: __, ...metadata } = object.metadata;
  return { ...rest, metadata, ...(kind.status ? {} : own), apiVersion: object.apiVersion, kind: object.kind };
}

export function statusOf({ status }: ServedKind, live: KubeObject): { readonly status?: unknown } {
  return status ? optional('status', live['status']) : {};
}

export function patchedObject(live: KubeObject, operations: readonly JsonPatchOperation[]): KubeObject {
  try {
    return patchJson(live, operations) as KubeObject;
  } catch (error) {
    if (error instanceof JsonPatchFailed) throw new ApiRefusal(422, 'Invalid', error.message);
    throw error;
  }
}

export function hasGeneration({ status = false, generation = status }: ServedKind): boolean {
  return generation;
}

export function withGeneration(kind: ServedKind, live: KubeObject, next: KubeObject): KubeObject {
  if (!hasGeneration(kind)) return next;
  const { generation = 0 } = live.metadata;
  const isSame =
    live.metadata.deletionTimestamp === next.metadata.deletionTimestamp &&
    isDeepStrictEqual(contentOf(live), contentOf(next));
  return { ...next, metadata: { ...next.metadata, generation: isSame ? generation : generation + 1 } };
}

function contentOf(object: KubeObject): unknown {
  const { metadata: _, status: __, ...content } = object;
  return content;
}

export function checkFinalizers({ metadata: live }: KubeObject, { metadata }: KubeObject): void {
  const added = metadata.finalizers?.some((finalizer) => !live.finalizers?.includes(finalizer)) ?? false;
  if (live.deletionTimestamp !== undefined && added) {
    throw new ApiRefusal(422, 'Invalid', 'no new finalizers can be added if the object is being deleted');
  }
}

export function checkVersions({ metadata }: KubeObject, { uid, resourceVersion }: ObjectVersion): void {
  if (uid !== undefined && uid !== metadata.uid) throw conflict(`uid ${uid} is not ${metadata.uid ?? ''}`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict('the object has been modified');
  }
}

export function conflict(message: string, causes: readonly object[] = []): ApiRefusal {
  return new ApiRefusal(409, 'Conflict', message, causes);
}
