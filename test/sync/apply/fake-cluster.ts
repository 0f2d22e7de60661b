/**
 * A cluster in memory with what sync relies on: UIDs, versions, compare-and-swap, preconditions and one field manager. It
 * counts every call and can end its caller before or after any of them, like a crash. Tests in test/cluster/sync prove its
 * behavior on a real API server.
 */
import { LABEL_HUB } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { LiveCache } from '../../../src/sync/apply/live/ports.ts';
import { APPLIED_BY_SYNC } from './fixtures.ts';

export interface FakeCluster {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** Increases with every write: two copies of one cluster with the same writes have the same content. */
  readonly version: number;
  /** Every object that the server deleted. */
  readonly deleted: readonly KubeObject[];
  /** A process that talks to this cluster. */
  process(options?: FakeProcessOptions): FakeProcess;
  copy(): FakeCluster;
}

export interface CrashPoint {
  /** Number of the call. */
  readonly at: number;
  readonly moment: 'before' | 'after';
}

export interface FakeProcessOptions {
  readonly crash?: CrashPoint;
  /** Called as each write leaves. */
  readonly fence?: () => void;
}

export interface FakeProcess {
  readonly client: Client;
  readonly live: LiveCache;
  /** How many calls it has made. */
  readonly calls: number;
}

export class Crash extends Error {
  override readonly name = 'Crash';
}

interface Content {
  readonly objects: Map<string, KubeObject>;
  readonly deleted: KubeObject[];
  version: number;
}

export function createFakeCluster(
  content: Content = { objects: new Map(), deleted: [], version: 0 },
): FakeCluster {
  return {
    objects: content.objects,
    deleted: content.deleted,
    get version() {
      return content.version;
    },
    process: (options) => createProcess(content, options),
    copy: () =>
      createFakeCluster({ objects: new Map(content.objects), deleted: [], version: content.version }),
  };
}

function createProcess(
  content: Content,
  { crash, fence = () => undefined }: FakeProcessOptions = {},
): FakeProcess {
  let calls = 0;
  let dead = false;

  /** A dead process makes no more calls, not even in finally blocks. */
  async function call<T>(act: () => T): Promise<T> {
    if (dead) throw new Crash('the process has ended');
    calls += 1;
    const isLast = calls === crash?.at;
    if (isLast && crash?.moment === 'before') die();
    const result = act();
    if (isLast) die();
    return structuredClone(result);
  }

  async function write<T>(act: () => T): Promise<T> {
    fence();
    return call(act);
  }

  function die(): never {
    dead = true;
    throw new Crash(`ended at call ${calls}`);
  }

  const client: Client = {
    server: 'memory',
    get: <T>(resource: Resource, name: { name: string; namespace?: string }) =>
      call(() => read(resource, name) as T),
    list: (resource, options) => call(() => page(resource, options) as never),
    pages: async function* pages(resource, options) {
      yield (await call(() => page(resource, options))) as never;
    },
    watch: () => {
      throw new Error('not supported: read the objects directly');
    },
    apply: <T>(_: Resource, object: KubeObject) => write(() => apply(object) as T),
    create: <T>(_: Resource, object: KubeObject) => write(() => create(object) as T),
    replace: <T>(_: Resource, object: KubeObject) => write(() => replace(object) as T),
    patch: () => {
      throw new Error('not supported');
    },
    delete: (resource, name, { uid, resourceVersion }) =>
      write(() => remove(resource, name, { uid, resourceVersion })),
    resourceFor: async (apiVersion, kind) => resourceOf(apiVersion, kind),
    resources: async () => [],
    forgetResources: () => undefined,
    raw: async () => ({}),
    close: async () => undefined,
  };
  return {
    client,
    live: createFakeLiveCache(content),
    get calls() {
      return calls;
    },
  };

  function read(
    resource: Resource,
    { name, namespace = '' }: { name: string; namespace?: string },
  ): KubeObject {
    const found = content.objects.get(objectKey({ ...resource, namespace, name }));
    if (!found) throw new KubeError('NotFound', `${resource.kind} ${name} not found`, { status: 404 });
    return found;
  }

  function page(resource: Resource, { labelSelector = '' }: { labelSelector?: string } = {}): unknown {
    const [label = '', value] = labelSelector.split('=');
    const items = [...content.objects.values()].filter(
      ({ kind, metadata }) => kind === resource.kind && (!value || metadata.labels?.[label] === value),
    );
    return { items, resourceVersion: String(content.version) };
  }

  /** As a server does: a version that differs is a conflict, another UID an invalid change of an immutable field. */
  function apply(object: KubeObject): KubeObject {
    const { uid, resourceVersion, ...metadata } = object.metadata;
    const before = content.objects.get(objectKey(objectIdOf(object)));
    if (before && (resourceVersion ?? before.metadata.resourceVersion) !== before.metadata.resourceVersion) {
      throw new KubeError('Conflict', 'the object has been modified', { status: 409 });
    }
    if (uid !== undefined && uid !== before?.metadata.uid) throw otherUid(before);
    return put({ ...object, metadata: { ...metadata, managedFields: APPLIED_BY_SYNC } });
  }

  function put(object: KubeObject): KubeObject {
    const before = content.objects.get(objectKey(objectIdOf(object)));
    content.version += 1;
    const uid = before?.metadata.uid ?? `uid-${content.version}`;
    const written = {
      ...object,
      metadata: { ...object.metadata, uid, resourceVersion: String(content.version) },
    };
    content.objects.set(objectKey(objectIdOf(object)), written);
    return written;
  }

  function create(object: KubeObject): KubeObject {
    if (content.objects.has(objectKey(objectIdOf(object)))) {
      throw new KubeError('AlreadyExists', 'it exists', { status: 409 });
    }
    return put(object);
  }

  function replace(object: KubeObject): KubeObject {
    const before = content.objects.get(objectKey(objectIdOf(object)));
    if (before?.metadata.resourceVersion !== object.metadata.resourceVersion) {
      throw new KubeError('Conflict', 'it has changed', { status: 409 });
    }
    return put(object);
  }

  function remove(
    resource: Resource,
    name: { name: string; namespace?: string },
    expected: Preconditions,
  ): undefined {
    const found = read(resource, name);
    const { uid, resourceVersion } = found.metadata;
    if (
      uid !== expected.uid ||
      (expected.resourceVersion !== undefined && resourceVersion !== expected.resourceVersion)
    ) {
      throw new KubeError('Conflict', 'another UID or another version', { status: 409 });
    }
    content.version += 1;
    content.objects.delete(objectKey(objectIdOf(found)));
    content.deleted.push(found);
  }
}

function otherUid(before: KubeObject | undefined): KubeError {
  if (!before) return new KubeError('Conflict', 'uid mismatch', { status: 409 });
  const causes = [{ reason: 'FieldValueInvalid', field: 'metadata.uid', message: 'field is immutable' }];
  return new KubeError('Invalid', 'invalid', { status: 422, reason: 'Invalid', causes });
}

interface Preconditions {
  readonly uid: string;
  readonly resourceVersion: string | undefined;
}

function resourceOf(apiVersion: string, kind: string): Resource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: !CLUSTER_SCOPED.has(kind) };
}

const CLUSTER_SCOPED: ReadonlySet<string> = new Set(['Namespace', 'DefenderPolicy']);

/** A cache that is never behind the server. Tests on a real server cover a late watch. */
function createFakeLiveCache(content: Content): LiveCache {
  return {
    watch: async () => undefined,
    get: (id: ObjectId) => content.objects.get(objectKey(id)) ?? 'absent',
    owned: () => [...content.objects.values()].filter(({ metadata }) => metadata.labels?.[LABEL_HUB]),
    recordApplied: () => undefined,
    recordDeleted: () => undefined,
    retryUnserved: () => undefined,
    retryNow: () => undefined,
    unknownReason: () => undefined,
    staleReason: () => undefined,
    readError: () => undefined,
    isInterrupted: () => false,
    hold: () => () => undefined,
    close: async () => undefined,
  };
}
