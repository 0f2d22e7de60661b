/**
 * A cluster in memory, small but true to what sync relies on: UIDs, versions, compare-and-swap, preconditions, and one
 * field manager. It counts every call, and can end the caller before or after any of them, as a crash would. What it
 * claims of an API server is proved on a real one in test/cluster/sync.
 */
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { LiveCache } from '../../../src/sync/apply/ports.ts';

export interface MemoryCluster {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** Rises with every write: two copies of one cluster that had the same writes have the same content. */
  readonly version: number;
  /** Every delete that the server carried out. */
  readonly deleted: readonly KubeObject[];
  /** A process that talks to this cluster, until it ends. */
  process(end?: { readonly at: number; readonly moment: 'before' | 'after' }): Process;
  copy(): MemoryCluster;
}

export interface Process {
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

export function memoryCluster(
  content: Content = { objects: new Map(), deleted: [], version: 0 },
): MemoryCluster {
  return {
    objects: content.objects,
    deleted: content.deleted,
    get version() {
      return content.version;
    },
    process: (end) => processOn(content, end),
    copy: () => memoryCluster({ objects: new Map(content.objects), deleted: [], version: content.version }),
  };
}

function processOn(
  content: Content,
  end?: { readonly at: number; readonly moment: 'before' | 'after' },
): Process {
  let calls = 0;
  let dead = false;

  /** A dead process makes no more calls, whatever its finally blocks say. */
  async function call<T>(act: () => T): Promise<T> {
    if (dead) throw new Crash('the process is gone');
    calls += 1;
    const last = calls === end?.at;
    if (last && end?.moment === 'before') die();
    const result = act();
    if (last) die();
    return structuredClone(result);
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
      throw new Error('this world is looked at directly');
    },
    apply: <T>(_: Resource, object: KubeObject) => call(() => put(object) as T),
    create: <T>(_: Resource, object: KubeObject) => call(() => create(object) as T),
    replace: <T>(_: Resource, object: KubeObject) => call(() => replace(object) as T),
    patch: () => {
      throw new Error('not needed by these tests');
    },
    delete: (resource, name, { uid, resourceVersion }) =>
      call(() => remove(resource, name, { uid, resourceVersion })),
    resourceFor: async (apiVersion, kind) => resourceOf(apiVersion, kind),
    resources: async () => [],
    forgetResources: () => undefined,
    raw: async () => ({}),
    close: async () => undefined,
  };
  return {
    client,
    live: liveOn(content),
    get calls() {
      return calls;
    },
  };

  function read(
    resource: Resource,
    { name, namespace = '' }: { name: string; namespace?: string },
  ): KubeObject {
    const found = content.objects.get(objectKey({ ...resource, namespace, name }));
    if (!found) throw new KubeError('NotFound', `${resource.kind} ${name} is not there`, { status: 404 });
    return found;
  }

  function page(resource: Resource, { labelSelector = '' }: { labelSelector?: string } = {}): unknown {
    const [label = '', value] = labelSelector.split('=');
    const items = [...content.objects.values()].filter(
      ({ kind, metadata }) => kind === resource.kind && (!value || metadata.labels?.[label] === value),
    );
    return { items, resourceVersion: String(content.version) };
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
      throw new KubeError('AlreadyExists', 'it is there', { status: 409 });
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
    wanted: Preconditions,
  ): void {
    const found = read(resource, name);
    const { uid, resourceVersion } = found.metadata;
    if (
      uid !== wanted.uid ||
      (wanted.resourceVersion !== undefined && resourceVersion !== wanted.resourceVersion)
    ) {
      throw new KubeError('Conflict', 'another object, or another version of it', { status: 409 });
    }
    content.version += 1;
    content.objects.delete(objectKey(objectIdOf(found)));
    content.deleted.push(found);
  }
}

interface Preconditions {
  readonly uid: string;
  readonly resourceVersion: string | undefined;
}

function resourceOf(apiVersion: string, kind: string): Resource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind !== 'Namespace' };
}

/** A watch that is never late: what a late one does is the business of the tests on a real server. */
function liveOn(content: Content): LiveCache {
  return {
    watch: async () => undefined,
    get: (id: ObjectId) => content.objects.get(objectKey(id)) ?? 'absent',
    recordApplied: () => undefined,
    recordDeleted: () => undefined,
    retryUnserved: () => undefined,
    unknownReason: () => undefined,
    staleReason: () => undefined,
    close: async () => undefined,
  };
}
