/**
 * The part of an API server that optimistic locking needs, in memory: get, create, replace and patch of any
 * kind, with resourceVersion as compare-and-swap. For tests of shells under a virtual clock; the behavior of a real server
 * is tested on a real one.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../src/kube/client/client.ts';
import { KubeError } from '../../src/kube/client/errors.ts';
import { isRecord } from '../../src/kube/objects/json.ts';
import type { KubeObject, ObjectName, Resource } from '../../src/kube/objects/object.ts';
import { patchDocument } from '../../src/sim/rollout/json-patch.ts';

export type ObjectClient = Pick<Client, 'get' | 'create' | 'replace' | 'patch'>;

export interface ObjectServer extends ObjectClient {
  object(resource: Resource, name: ObjectName): KubeObject | undefined;
  remove(resource: Resource, name: ObjectName): void;
  all(resource: Resource): KubeObject[];
  /** How many writes were accepted. */
  readonly version: number;
}

export function objectServer(): ObjectServer {
  const objects = new Map<string, KubeObject>();
  let version = 0;

  const server = {
    get version() {
      return version;
    },
    object: (resource: Resource, name: ObjectName) => objects.get(pathOf(resource, name)),
    remove: (resource: Resource, name: ObjectName) => void objects.delete(pathOf(resource, name)),
    all: (resource: Resource) =>
      [...objects].filter(([path]) => path.startsWith(`${resource.plural}/`)).map(([, object]) => object),
    get: async (resource: Resource, name: ObjectName) => structuredClone(present(resource, name)),
    create: async (resource: Resource, object: KubeObject) => {
      const path = pathOf(resource, object.metadata);
      if (objects.has(path)) throw new KubeError('AlreadyExists', `create ${path}`, { status: 409 });
      return store(path, { ...object, metadata: { ...object.metadata, uid: randomUUID() } });
    },
    replace: async (resource: Resource, object: KubeObject) => {
      const path = pathOf(resource, object.metadata);
      const before = present(resource, object.metadata);
      const { resourceVersion } = object.metadata;
      if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) {
        throw new KubeError('Conflict', `replace ${path}`, { status: 409 });
      }
      return store(path, object);
    },
    patch: async (resource: Resource, name: ObjectName, patch: Parameters<Client['patch']>[2]) => {
      const before = present(resource, name);
      const after = patch.type === 'merge' ? merged(before, patch.body) : jsonPatched(before, patch.body);
      return store(pathOf(resource, name), after);
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the port lets callers name what they expect
  return server as unknown as ObjectServer;

  function present(resource: Resource, name: ObjectName): KubeObject {
    const path = pathOf(resource, name);
    const object = objects.get(path);
    if (!object) throw new KubeError('NotFound', `get ${path}`, { status: 404 });
    return object;
  }

  function store(path: string, object: KubeObject): KubeObject {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    objects.set(path, structuredClone(stored));
    return structuredClone(stored);
  }
}

function pathOf({ plural }: Resource, { namespace, name }: ObjectName): string {
  return [plural, namespace ?? '', name].join('/');
}

/** A test that fails is answered as an API server does. */
function jsonPatched(before: KubeObject, body: readonly Readonly<Record<string, unknown>>[]): KubeObject {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client takes any operation
    return patchDocument(before, body as never) as KubeObject;
  } catch (error) {
    throw new KubeError('Invalid', String(error), { status: 422 });
  }
}

function merged<T>(before: T, patch: unknown): T {
  if (!isRecord(patch)) return patch as T;
  const result: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result as T;
}
