/** The objects of the in-memory API server: what each kind of write makes of them, and their history for watches. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Metadata, ObjectName, Resource } from '../../../src/kube/objects/object.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { type ListTypes, OF_METADATA } from './field-set.ts';
import { type JsonPatchFailed, patchJson } from './json-patch.ts';
import { applyFields, updateFields } from './managed-fields.ts';
import { ApiRefusal } from './refusal.ts';

export interface MemoryKind {
  readonly resource: Resource;
  /** It has a status subresource and a generation, as custom resources have. */
  readonly status?: boolean;
  readonly lists?: ListTypes;
}

export interface MemoryChange {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: string;
  readonly object: KubeObject;
}

export interface WriteOptions {
  readonly manager: string;
  readonly subresource?: string;
  readonly force?: boolean;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export class MemoryObjects {
  readonly history: MemoryChange[] = [];
  readonly #objects = new Map<string, KubeObject>();
  readonly #clock: Pick<Clock, 'now'>;
  #revision = 100;
  #uids = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get revision(): number {
    return this.#revision;
  }

  get(kind: MemoryKind, name: ObjectName): KubeObject {
    const object = this.find(kind, name);
    if (!object) throw new ApiRefusal(404, 'NotFound', `${kind.resource.plural} "${name.name}" not found`);
    return object;
  }

  find({ resource }: MemoryKind, name: ObjectName): KubeObject | undefined {
    return this.#objects.get(keyOf(resource, name));
  }

  list({ resource }: MemoryKind, namespace: string | undefined): KubeObject[] {
    return [...this.#objects]
      .filter(([key, { metadata }]) => key.startsWith(`${resource.kind}/`) && isIn(metadata, namespace))
      .map(([, object]) => object);
  }

  apply(kind: MemoryKind, intent: KubeObject, { manager, subresource, force }: WriteOptions): KubeObject {
    const live = this.find(kind, intent.metadata);
    if (!live) this.#checkCreation(kind, intent, subresource);
    const base = live ?? empty(intent);
    const desired = scoped(kind, intent, subresource);
    const lists = { ...OF_METADATA, ...kind.lists };
    const applied = applyFields(base, desired, { manager, subresource, lists });
    if (applied.conflicts.length > 0 && force !== true) {
      const causes = applied.conflicts.map((message) => ({ reason: 'FieldManagerConflict', message }));
      throw new ApiRefusal(
        409,
        'Conflict',
        `Apply failed with conflicts: ${applied.conflicts.join()}`,
        causes,
      );
    }
    if (live) checkVersions(live, intent.metadata);
    return live ? this.#store(kind, live, applied.object) : this.#add(kind, applied.object);
  }

  /** By apply. */
  #checkCreation(kind: MemoryKind, { metadata }: KubeObject, subresource: string | undefined): void {
    if (metadata.uid !== undefined) {
      throw conflict(`uid mismatch: ${metadata.uid}, and no existing object was found`);
    }
    if (subresource !== undefined) this.get(kind, metadata);
  }

  create(kind: MemoryKind, object: KubeObject, { manager }: WriteOptions): KubeObject {
    if (this.find(kind, object.metadata)) {
      throw new ApiRefusal(
        409,
        'AlreadyExists',
        `${kind.resource.plural} "${object.metadata.name}" already exists`,
      );
    }
    const lists = { ...OF_METADATA, ...kind.lists };
    const desired = scoped(kind, object, undefined);
    return this.#add(kind, updateFields(undefined, desired, { manager, subresource: undefined, lists }));
  }

  replace(kind: MemoryKind, object: KubeObject, options: WriteOptions): KubeObject {
    const live = this.get(kind, object.metadata);
    checkVersions(live, object.metadata);
    return this.#update(kind, live, { object, options });
  }

  patch(
    kind: MemoryKind,
    name: ObjectName,
    operations: Parameters<typeof patchJson>[1],
    options: WriteOptions,
  ): KubeObject {
    const live = this.get(kind, name);
    try {
      const object = patchJson(live, operations) as KubeObject;
      checkVersions(live, object.metadata);
      return this.#update(kind, live, { object, options });
    } catch (error) {
      if (error instanceof ApiRefusal) throw error;
      throw new ApiRefusal(422, 'Invalid', (error as JsonPatchFailed).message);
    }
  }

  merge(
    kind: MemoryKind,
    name: ObjectName,
    change: (live: KubeObject) => KubeObject,
    options: WriteOptions,
  ): KubeObject {
    const live = this.get(kind, name);
    return this.#update(kind, live, { object: change(live), options });
  }

  /** The object while finalizers keep it. */
  delete(kind: MemoryKind, name: ObjectName, preconditions: Preconditions): KubeObject | undefined {
    const live = this.get(kind, name);
    checkVersions(live, preconditions);
    if ((live.metadata.finalizers ?? []).length === 0) {
      this.#remove(kind, live);
      return undefined;
    }
    if (live.metadata.deletionTimestamp !== undefined) return live;
    const deletionTimestamp = this.#clock.now().toISOString();
    return this.#store(kind, live, { ...live, metadata: { ...live.metadata, deletionTimestamp } });
  }

  #update(
    kind: MemoryKind,
    live: KubeObject,
    { object, options }: { readonly object: KubeObject; readonly options: WriteOptions },
  ): KubeObject {
    const { manager, subresource } = options;
    const merged =
      subresource === 'status'
        ? { ...live, status: object['status'] }
        : { ...object, ...statusOf(kind, live) };
    const { deletionTimestamp, finalizers: before = [] } = live.metadata;
    const added = (merged.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
    if (deletionTimestamp !== undefined && added.length > 0) {
      throw new ApiRefusal(422, 'Invalid', 'no new finalizers can be added if the object is being deleted');
    }
    const lists = { ...OF_METADATA, ...kind.lists };
    return this.#store(kind, live, updateFields(live, merged, { manager, subresource, lists }));
  }

  #add(kind: MemoryKind, object: KubeObject): KubeObject {
    this.#uids += 1;
    const added = {
      ...object.metadata,
      uid: `uid-${this.#uids}`,
      creationTimestamp: this.#clock.now().toISOString(),
      ...(kind.status ? { generation: 1 } : {}),
    };
    return this.#happened(kind, 'ADDED', { ...object, metadata: added });
  }

  /** A write that changes nothing has no new version, and no watch delivers it. */
  #store(kind: MemoryKind, live: KubeObject, object: KubeObject): KubeObject {
    const { uid, resourceVersion, generation = 0, creationTimestamp } = live.metadata;
    const kept = {
      ...object.metadata,
      uid,
      resourceVersion,
      ...(creationTimestamp ? { creationTimestamp } : {}),
    };
    const next = withGeneration(kind, live, { ...object, metadata: kept as Metadata }, generation);
    if (isDeepStrictEqual(next, live)) return live;
    if (next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      this.#remove(kind, next);
      return next;
    }
    return this.#happened(kind, 'MODIFIED', next);
  }

  #happened({ resource }: MemoryKind, type: MemoryChange['type'], object: KubeObject): KubeObject {
    this.#revision += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    this.#objects.set(keyOf(resource, stored.metadata), stored);
    this.history.push({ revision: this.#revision, type, kind: resource.kind, object: stored });
    return stored;
  }

  #remove(kind: MemoryKind, object: KubeObject): void {
    const last = this.#happened(kind, 'DELETED', object);
    this.#objects.delete(keyOf(kind.resource, last.metadata));
  }
}

function empty({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

/** What a write to this subresource may change. */
function scoped(kind: MemoryKind, object: KubeObject, subresource: string | undefined): KubeObject {
  const { apiVersion, metadata } = object;
  if (subresource === 'status') {
    return { ...empty(object), ...('status' in object ? { status: object['status'] } : {}) };
  }
  const { status, ...rest } = object;
  const { uid: _, resourceVersion: __, ...own } = metadata;
  return { ...rest, apiVersion, metadata: own, ...(kind.status || status === undefined ? {} : { status }) };
}

function statusOf(kind: MemoryKind, live: KubeObject): Record<string, unknown> {
  return kind.status && live['status'] !== undefined ? { status: live['status'] } : {};
}

function withGeneration(
  kind: MemoryKind,
  live: KubeObject,
  next: KubeObject,
  generation: number,
): KubeObject {
  if (!kind.status) return next;
  const same =
    isDeepStrictEqual(live['spec'], next['spec']) &&
    live.metadata.deletionTimestamp === next.metadata.deletionTimestamp;
  return { ...next, metadata: { ...next.metadata, generation: same ? generation : generation + 1 } };
}

function checkVersions({ metadata }: KubeObject, { uid, resourceVersion }: Preconditions): void {
  if (uid !== undefined && uid !== metadata.uid) throw conflict(`uid ${uid} is not ${metadata.uid ?? ''}`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict('the object has been modified');
  }
}

function conflict(message: string): ApiRefusal {
  return new ApiRefusal(409, 'Conflict', message);
}

function isIn({ namespace }: Metadata, asked: string | undefined): boolean {
  return asked === undefined || namespace === asked;
}

function keyOf({ kind }: Resource, { name, namespace }: ObjectName): string {
  return `${kind}/${namespace ?? ''}/${name}`;
}
