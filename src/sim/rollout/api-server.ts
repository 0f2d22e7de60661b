/** The API server of a simulated cluster: versions, server-side apply, JSON patches, finalizers, and a journal that views follow. */
import { isDeepStrictEqual } from 'node:util';
import { storeKey } from '../../kube/cache/store.ts';
import { KubeError } from '../../kube/client/errors.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import type { KubeObject, ObjectName, Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { patchDocument } from './json-patch.ts';
import { type AppliedPart, appliedObject, recordAt } from './server-side-apply.ts';

export interface ApiChange {
  readonly atMs: number;
  readonly before: KubeObject | undefined;
  /** Undefined: it was deleted. */
  readonly after: KubeObject | undefined;
}

export interface SimulatedApi {
  get<T extends KubeObject>(resource: Resource<T>, name: ObjectName | string): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>): readonly T[];
  /** As people, agents and kubelets write: the whole object. */
  put(object: KubeObject): KubeObject;
  apply(object: KubeObject, manager: string, part: AppliedPart): KubeObject;
  patch(resource: Resource, name: ObjectName, operations: readonly JsonPatchOperation[]): KubeObject;
  /** Undefined: it is deleted. Otherwise finalizers keep it. */
  delete(resource: Resource, name: ObjectName, only?: ObjectVersion): KubeObject | undefined;
  /** By kind. */
  readonly journal: ReadonlyMap<string, readonly ApiChange[]>;
}

/** Another object of that name, or another version of it, is left alone. */
export type ObjectVersion = Pick<KubeObject['metadata'], 'uid' | 'resourceVersion'>;

export interface ApiOptions {
  readonly nowMs: () => number;
  /** After each change. */
  readonly changed: (change: ApiChange) => void;
  /** Fills in the defaults of what an apply creates. */
  readonly defaulted?: (object: KubeObject) => KubeObject;
}

export function createSimulatedApi(options: ApiOptions): SimulatedApi {
  const { nowMs, changed, defaulted = (object) => object } = options;
  const objects = new Map<string, Map<string, KubeObject>>();
  const journal = new Map<string, ApiChange[]>();
  /** Fields of a part of an object that a manager applied last. */
  const owned = new Map<string, readonly string[]>();
  let version = 0;
  return {
    get: <T extends KubeObject>({ kind }: Resource<T>, name: ObjectName | string) =>
      find(kind, typeof name === 'string' ? name : storeKey(name)) as T | undefined,
    list: <T extends KubeObject>({ kind }: Resource<T>) =>
      [...(objects.get(kind)?.values() ?? [])] as unknown as readonly T[],
    put,
    apply,
    patch: ({ kind }, name, operations) => put(patchDocument(existing(kind, name), operations) as KubeObject),
    delete: ({ kind }, name, only) => removeFrom(kind, name, only),
    journal,
  };

  function find(kind: string, key: string): KubeObject | undefined {
    return objects.get(kind)?.get(key);
  }

  function existing(kind: string, name: ObjectName): KubeObject {
    const found = find(kind, storeKey(name));
    if (!found) throw new KubeError('NotFound', `${kind} ${name.name} was not found`);
    return found;
  }

  function put(object: KubeObject): KubeObject {
    const before = find(object.kind, storeKey(object.metadata));
    if (before && isDeepStrictEqual(before, object)) return before;
    version += 1;
    const after = {
      ...object,
      metadata: { ...object.metadata, ...metadataOf(before, object, { version, nowMs }) },
    };
    record(before, after);
    return after;
  }

  function record(before: KubeObject | undefined, after: KubeObject): void {
    const { kind, metadata } = after;
    const isDeleted = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const known = objects.get(kind) ?? new Map<string, KubeObject>();
    objects.set(kind, known);
    if (isDeleted) known.delete(storeKey(metadata));
    else known.set(storeKey(metadata), after);
    const change: ApiChange = { atMs: nowMs(), before, after: isDeleted ? undefined : after };
    const changes = journal.get(kind) ?? [];
    changes.push(change);
    journal.set(kind, changes);
    changed(change);
    if (isDeleted) collectDependents(metadata);
  }

  /** As the garbage collector of Kubernetes, which needs a moment longer. */
  function collectDependents({ uid }: KubeObject['metadata']): void {
    const all = [...objects.values()].flatMap((known) => [...known.values()]);
    for (const { kind, metadata } of all) {
      if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) removeFrom(kind, metadata);
    }
  }

  function apply(object: KubeObject, manager: string, part: AppliedPart): KubeObject {
    const { kind, metadata } = object;
    const live = find(kind, storeKey(metadata));
    if (!live && part === 'status') throw new KubeError('NotFound', `${kind} ${metadata.name} was not found`);
    const before = live ?? created(object);
    checkVersion(before, object);
    const fields = live ? (owned.get(ownedKey(live, manager, part)) ?? []) : [];
    const next = appliedObject(before, object, { manager, part, before: fields });
    const after = put(live ? next : defaulted(next));
    owned.set(ownedKey(after, manager, part), Object.keys(recordAt(object, part)));
    return after;
  }

  function removeFrom(kind: string, name: ObjectName, only: ObjectVersion = {}): KubeObject | undefined {
    const live = existing(kind, name);
    checkVersion(live, { kind, metadata: { name: name.name, ...only } });
    const at = live.metadata.deletionTimestamp ?? new Date(nowMs()).toISOString();
    const after = put({ ...live, metadata: { ...live.metadata, deletionTimestamp: at } });
    return find(kind, storeKey(name)) && after;
  }
}

function metadataOf(
  before: KubeObject | undefined,
  after: KubeObject,
  { version, nowMs }: { readonly version: number; readonly nowMs: () => number },
): Partial<KubeObject['metadata']> {
  const { uid, creationTimestamp } = before?.metadata ?? {};
  return {
    uid: uid ?? `uid-${after.metadata.name}-${version}`,
    creationTimestamp: creationTimestamp ?? new Date(nowMs()).toISOString(),
    resourceVersion: String(version),
    generation: generationOf(before, after),
  };
}

function ownedKey({ metadata: { uid } }: KubeObject, manager: string, part: AppliedPart): string {
  return `${uid} ${part} ${manager}`;
}

function generationOf(before: KubeObject | undefined, after: KubeObject): number {
  const { generation = 0, deletionTimestamp } = before?.metadata ?? {};
  const isSame =
    isDeepStrictEqual(before?.['spec'], after['spec']) &&
    deletionTimestamp === after.metadata.deletionTimestamp;
  return isSame ? generation : generation + 1;
}

/** As the API server finds it before the first apply. */
function created({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...optional('namespace', namespace) } };
}

function checkVersion(live: KubeObject, { kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): void {
  const { uid, resourceVersion } = metadata;
  const isOther = uid !== undefined && uid !== live.metadata.uid;
  const isOld = resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion;
  if (isOther || isOld) throw new KubeError('Conflict', `${kind} ${metadata.name} has changed`);
}
