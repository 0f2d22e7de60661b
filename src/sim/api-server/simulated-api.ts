/** The API server of a simulated cluster: it takes writes as people, agents and controllers send them, and keeps a journal that views follow. */
import { errorOfResponse } from '../../kube/client/response.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import type { KubeObject, ObjectName, Resource } from '../../kube/objects/object.ts';
import { type ServedKind, servedKind } from './kinds.ts';
import { ApiObjects, type ApiObjectsOptions, type StoredChange } from './objects.ts';
import { ApiRefusal } from './refusal.ts';
import type { ObjectVersion, ObjectWriteOptions } from './write-rules.ts';

export interface SimulatedApi {
  get<T extends KubeObject>(resource: Resource<T>, name: ObjectName | string): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>): readonly T[];
  /** As people, agents and kubelets write: the whole object with its status. */
  put(object: KubeObject): KubeObject;
  apply(object: KubeObject, options: ObjectWriteOptions): KubeObject;
  create(object: KubeObject, options: ObjectWriteOptions): KubeObject;
  replace(object: KubeObject, options: ObjectWriteOptions): KubeObject;
  patch(
    resource: Resource,
    name: ObjectName,
    operations: readonly JsonPatchOperation[],
    options: ObjectWriteOptions,
  ): KubeObject;
  /** Undefined: it is deleted. Otherwise finalizers keep it. */
  delete(resource: Resource, name: ObjectName, only?: ObjectVersion): KubeObject | undefined;
  /** By kind. */
  readonly journal: ReadonlyMap<string, readonly StoredChange[]>;
}

export interface SimulatedApiOptions extends Pick<ApiObjectsOptions, 'changed'> {
  readonly nowMs: () => number;
  /** Kinds of a test. */
  readonly kinds?: readonly ServedKind[];
}

export function createSimulatedApi({ nowMs, kinds = [], ...options }: SimulatedApiOptions): SimulatedApi {
  const known = new Map(kinds.map((kind) => [kind.resource.kind, kind]));
  const clock = { now: () => new Date(nowMs()) };
  const objects = new ApiObjects({ ...options, clock, collects: kindOf, fillsDefaults: true });
  return {
    get: <T extends KubeObject>({ kind }: Resource<T>, name: ObjectName | string) =>
      objects.find(kindOf(kind), typeof name === 'string' ? { name } : name) as T | undefined,
    list: <T extends KubeObject>({ kind }: Resource<T>) =>
      objects.list(kindOf(kind)) as unknown as readonly T[],
    put: (object) => objects.put(kindOf(object.kind), object, { manager: 'person' }),
    apply: (object, how) => answered(() => objects.apply(kindOf(object.kind), object, how)),
    create: (object, how) => answered(() => objects.create(kindOf(object.kind), object, how)),
    replace: (object, how) => answered(() => objects.replace(kindOf(object.kind), object, how)),
    patch: ({ kind }, name, operations, how) =>
      answered(() => objects.patch(kindOf(kind), name, operations, how)),
    delete: ({ kind }, name, only) => answered(() => objects.delete(kindOf(kind), name, only)),
    journal: objects.history,
  };

  function kindOf(kind: string): ServedKind {
    const resource = { group: '', version: '', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
    const found = known.get(kind) ?? servedKind(resource);
    known.set(kind, found);
    return found;
  }
}

/** Fails as the client of a real server does. */
function answered<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof ApiRefusal ? errorOfResponse(error.response()) : error;
  }
}
