/** The objects of an API server in memory: what each kind of write makes of them, and their history for watches. */
import { isDeepStrictEqual } from 'node:util';
import { storeKey } from '../../kube/cache/store.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import type { KubeObject, Metadata, ObjectName } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { fillDefaults } from './field-types.ts';
import { DEFAULT_TYPE, type ServedKind } from './kinds.ts';
import { applyFields, updateFields } from './ownership.ts';
import { ApiRefusal } from './refusal.ts';
import {
  checkFinalizers,
  checkVersions,
  conflict,
  hasGeneration,
  identityOf,
  inScope,
  keyOfWriter,
  type ObjectVersion,
  type ObjectWriteOptions,
  patchedObject,
  statusOf,
  withGeneration,
  writerOf,
} from './write-rules.ts';

export interface ApiChange {
  readonly atMs: number;
  readonly before: KubeObject | undefined;
  /** Undefined: it was deleted. */
  readonly after: KubeObject | undefined;
}

export interface StoredChange extends ApiChange {
  readonly revision: number;
  /** The object that watches deliver: of a deletion, the last one. */
  readonly object: KubeObject;
}

export function changeTypeOf({ before, after }: ApiChange): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (!before) return 'ADDED';
  return after ? 'MODIFIED' : 'DELETED';
}

export interface ApiObjectsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Called after each change. */
  readonly changed?: (change: ApiChange) => void;
  /** Fills in the defaults of the schema with each write. */
  readonly fillsDefaults?: boolean;
  /** Deletes what belongs to an object that was deleted, as the garbage collector of Kubernetes, which needs a moment longer. */
  readonly collects?: (kind: string) => ServedKind;
}

interface Update {
  readonly object: KubeObject;
  readonly options: ObjectWriteOptions;
}

export class ApiObjects {
  readonly #options: ApiObjectsOptions;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #history = new Map<string, StoredChange[]>();
  /** The last intent of each manager that led to an object, or left it as it is. */
  readonly #intents = new WeakMap<KubeObject, Readonly<Record<string, KubeObject>>>();
  #revision = 100;
  #uids = 0;

  constructor(options: ApiObjectsOptions) {
    this.#options = options;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Counts changes of objects that are not served here. */
  advance(changes: number): void {
    this.#revision += changes;
  }

  /** The changes of each kind, in order. */
  get history(): ReadonlyMap<string, readonly StoredChange[]> {
    return this.#history;
  }

  get(kind: ServedKind, name: ObjectName): KubeObject {
    const object = this.find(kind, name);
    if (!object) throw new ApiRefusal(404, 'NotFound', `${kind.resource.plural} "${name.name}" not found`);
    return object;
  }

  find({ resource }: Pick<ServedKind, 'resource'>, name: ObjectName): KubeObject | undefined {
    return this.#objects.get(resource.kind)?.get(storeKey(name));
  }

  list({ resource }: Pick<ServedKind, 'resource'>, namespace?: string): readonly KubeObject[] {
    const all = [...(this.#objects.get(resource.kind)?.values() ?? [])];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  apply(kind: ServedKind, intent: KubeObject, options: ObjectWriteOptions): KubeObject {
    const live = this.find(kind, intent.metadata);
    if (live && this.#isApplied(live, intent, options)) return live;
    const object = this.#applied(kind, live, { object: intent, options });
    this.#intents.set(object, { ...this.#intents.get(object), [keyOfWriter(options)]: intent });
    return object;
  }

  /** Finds at once that an intent, which most agents send again and again, has made the object what it is. */
  #isApplied(live: KubeObject, intent: KubeObject, options: ObjectWriteOptions): boolean {
    const before = this.#intents.get(live)?.[keyOfWriter(options)];
    return intent.metadata.resourceVersion === undefined && isDeepStrictEqual(before, intent);
  }

  #applied(kind: ServedKind, live: KubeObject | undefined, { object: intent, options }: Update): KubeObject {
    if (!live) this.#checkCreation(kind, intent, options);
    const desired = inScope(kind, intent, options.subresource);
    const { conflicts, object } = applyFields(live ?? identityOf(intent), desired, writerOf(kind, options));
    if (conflicts.length > 0 && options.force !== true) {
      const causes = conflicts.map((message) => ({ reason: 'FieldManagerConflict', message }));
      throw conflict(`Apply failed with conflicts: ${conflicts.join()}`, causes);
    }
    if (!live) return this.#add(kind, object);
    checkVersions(live, intent.metadata);
    return this.#store(kind, live, object);
  }

  #checkCreation(kind: ServedKind, { metadata }: KubeObject, { subresource }: ObjectWriteOptions): void {
    if (subresource !== undefined) this.get(kind, metadata);
    if (metadata.uid !== undefined) {
      throw conflict(`uid mismatch: ${metadata.uid}, and no existing object was found`);
    }
  }

  create(kind: ServedKind, object: KubeObject, { manager }: ObjectWriteOptions): KubeObject {
    const { name } = object.metadata;
    if (this.find(kind, object.metadata)) {
      throw new ApiRefusal(409, 'AlreadyExists', `${kind.resource.plural} "${name}" already exists`);
    }
    return this.#add(
      kind,
      updateFields(undefined, inScope(kind, object, undefined), writerOf(kind, { manager })),
    );
  }

  replace(kind: ServedKind, object: KubeObject, options: ObjectWriteOptions): KubeObject {
    const live = this.get(kind, object.metadata);
    checkVersions(live, object.metadata);
    return this.#update(kind, live, { object, options });
  }

  /** Creates or replaces the object with its status, whatever version is there. */
  put(kind: ServedKind, object: KubeObject, options: ObjectWriteOptions): KubeObject {
    const live = this.find(kind, object.metadata);
    const next = updateFields(live, object, writerOf(kind, options));
    return live ? this.#store(kind, live, next) : this.#add(kind, next);
  }

  patch(
    kind: ServedKind,
    name: ObjectName,
    operations: readonly JsonPatchOperation[],
    options: ObjectWriteOptions,
  ): KubeObject {
    const live = this.get(kind, name);
    const object = patchedObject(live, operations);
    checkVersions(live, object.metadata);
    return this.#update(kind, live, { object, options });
  }

  merge(
    kind: ServedKind,
    name: ObjectName,
    change: (live: KubeObject) => KubeObject,
    options: ObjectWriteOptions,
  ): KubeObject {
    const live = this.get(kind, name);
    return this.#update(kind, live, { object: change(live), options });
  }

  /** Undefined: it is deleted. Otherwise finalizers keep it. */
  delete(kind: ServedKind, name: ObjectName, only: ObjectVersion = {}): KubeObject | undefined {
    const live = this.get(kind, name);
    checkVersions(live, only);
    if ((live.metadata.finalizers ?? []).length === 0) {
      this.#remove(kind, live, live);
      return undefined;
    }
    if (live.metadata.deletionTimestamp !== undefined) return live;
    const deletionTimestamp = this.#options.clock.now().toISOString();
    return this.#store(kind, live, { ...live, metadata: { ...live.metadata, deletionTimestamp } });
  }

  #update(kind: ServedKind, live: KubeObject, { object, options }: Update): KubeObject {
    const next =
      options.subresource === 'status'
        ? { ...live, status: object['status'] }
        : { ...object, ...statusOf(kind, live) };
    checkFinalizers(live, next);
    return this.#store(kind, live, updateFields(live, next, writerOf(kind, options)));
  }

  #add(kind: ServedKind, object: KubeObject): KubeObject {
    this.#uids += 1;
    const { clock } = this.#options;
    const metadata = {
      ...object.metadata,
      uid: `uid-${this.#uids}`,
      creationTimestamp: clock.now().toISOString(),
      ...(hasGeneration(kind) ? { generation: 1 } : {}),
    };
    return this.#happened(kind, undefined, this.#defaulted(kind, { ...object, metadata }));
  }

  /** A write that changes nothing has no new version, and no watch delivers it. */
  #store(kind: ServedKind, live: KubeObject, object: KubeObject): KubeObject {
    const { uid, resourceVersion, creationTimestamp, deletionTimestamp } = live.metadata;
    const kept = {
      ...object.metadata,
      ...optional('uid', uid),
      ...optional('resourceVersion', resourceVersion),
      ...optional('creationTimestamp', creationTimestamp),
      ...optional('deletionTimestamp', deletionTimestamp),
    };
    const next = withGeneration(kind, live, this.#defaulted(kind, { ...object, metadata: kept }));
    if (isDeepStrictEqual(next, live)) return live;
    const { metadata } = next;
    const isLast = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    return isLast ? this.#remove(kind, live, next) : this.#happened(kind, live, next);
  }

  #defaulted({ type = DEFAULT_TYPE }: ServedKind, object: KubeObject): KubeObject {
    return this.#options.fillsDefaults ? (fillDefaults(object, type) as KubeObject) : object;
  }

  #remove(kind: ServedKind, live: KubeObject, object: KubeObject): KubeObject {
    const last = this.#versioned(object);
    this.#objects.get(kind.resource.kind)?.delete(storeKey(last.metadata));
    this.#record(kind, { before: live, after: undefined, object: last });
    this.#collectDependents(last.metadata);
    return last;
  }

  #happened(kind: ServedKind, before: KubeObject | undefined, object: KubeObject): KubeObject {
    const after = this.#versioned(object);
    const known = this.#objects.get(kind.resource.kind) ?? new Map<string, KubeObject>();
    this.#objects.set(kind.resource.kind, known.set(storeKey(after.metadata), after));
    this.#record(kind, { before, after, object: after });
    return after;
  }

  #versioned(object: KubeObject): KubeObject {
    this.#revision += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  #record({ resource }: ServedKind, states: Pick<StoredChange, 'before' | 'after' | 'object'>): void {
    const { clock, changed } = this.#options;
    const change = { atMs: clock.now().getTime(), revision: this.#revision, ...states };
    const history = this.#history.get(resource.kind) ?? [];
    history.push(change);
    this.#history.set(resource.kind, history);
    changed?.(change);
  }

  #collectDependents({ uid }: Metadata): void {
    const { collects } = this.#options;
    if (!collects) return;
    for (const object of [...this.#objects.values()].flatMap((known) => [...known.values()])) {
      const { kind, metadata } = object;
      const { ownerReferences = [] } = metadata;
      const others = ownerReferences.filter((owner) => owner.uid !== uid);
      if (others.length === ownerReferences.length) continue;
      const left = { ...object, metadata: { ...metadata, ownerReferences: others } };
      if (others.length > 0) this.#store(collects(kind), object, left);
      else this.delete(collects(kind), metadata);
    }
  }
}
