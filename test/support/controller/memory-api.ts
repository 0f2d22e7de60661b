/**
 * An API server in memory, behind the Transport: the real client, fence and reflector run over it. It does what a real one
 * does for get, list, watch, server-side apply, patches, conflicts and finalizers; test/support/controller/api-contract.ts
 * runs over both, so that it stays so. Time is the test's.
 */
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { apiVersionOf } from '../../../src/kube/client/paths.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import type { PrincipalOptions } from '../../../src/kube/controller/principals.ts';
import { createFencedTransport } from '../../../src/kube/leader/fence.ts';
import { isRecord } from '../../../src/kube/objects/json.ts';
import type { KubeObject, ObjectName } from '../../../src/kube/objects/object.ts';
import type {
  HttpRequest,
  HttpResponse,
  HttpStream,
  Transport,
} from '../../../src/kube/transport/transport.ts';
import type { Clock } from '../../../src/os/clock.ts';
import type { ServedKind } from '../../../src/sim/api-server/kinds.ts';
import { ApiObjects, changeTypeOf, type StoredChange } from '../../../src/sim/api-server/objects.ts';
import { ApiRefusal } from '../../../src/sim/api-server/refusal.ts';
import type { ObjectWriteOptions } from '../../../src/sim/api-server/write-rules.ts';

/** One write that reached the server. */
export interface JournalEntry {
  /** `apply Machine a status` */
  readonly what: string;
  /** As whom; empty for the identity of the process. */
  readonly user: string;
  readonly body: unknown;
  /** The HTTP status of the answer. */
  readonly code: number;
}

export interface MemoryApi {
  readonly objects: ApiObjects;
  readonly journal: JournalEntry[];
  /** A connection like that of one process: `kill` ends it, and nothing that it sends later arrives. */
  connection(): MemoryConnection;
  /** Answers this instead of the next write whose text matches. */
  refuse(what: RegExp, refusal: ApiRefusal): void;
}

export interface MemoryConnection {
  client(principal?: Partial<PrincipalOptions>): Client;
  connect(principal?: Partial<PrincipalOptions>): Promise<Client>;
  kill(): void;
  /** The n-th write from now on is the last: it does not arrive, or its answer does not. */
  crashAt(n: number, when: 'before' | 'after'): void;
  readonly crashed: boolean;
  /** How many writes were sent. */
  readonly writes: number;
}

export interface MemoryApiOptions {
  readonly clock: Clock;
  readonly kinds: readonly ServedKind[];
}

const BOOKMARK_MS = 60_000;
const JSON_HEADERS = { 'content-type': 'application/json' };

interface Target {
  readonly kind: ServedKind;
  readonly name: ObjectName | undefined;
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
}

export function createMemoryApi({ clock, kinds }: MemoryApiOptions): MemoryApi {
  const objects = new ApiObjects({ clock, changed: notifyWatches });
  const journal: JournalEntry[] = [];
  const refusals: { what: RegExp; refusal: ApiRefusal }[] = [];
  const listeners = new Set<() => void>();

  const refuse = (what: RegExp, refusal: ApiRefusal): void => void refusals.push({ what, refusal });
  return { objects, journal, connection, refuse };

  function notifyWatches(): void {
    for (const listener of listeners) listener();
  }

  function connection(): MemoryConnection {
    const dead = new AbortController();
    let left = Number.POSITIVE_INFINITY;
    let when: 'before' | 'after' = 'before';
    let writes = 0;
    const alive = (): void => {
      if (dead.signal.aborted) throw new KubeError('Unreachable', 'this process is dead');
    };
    const transportAs = (user: string): Transport => ({
      request: async (request) => {
        await Promise.resolve();
        alive();
        if (request.signal?.aborted) throw givenUp(request.signal);
        request.beforeSend?.();
        if (request.method === 'GET') return respond(() => read(request));
        writes += 1;
        left -= 1;
        if (left === 0 && when === 'before') dead.abort();
        alive();
        const response = write(request, user);
        if (left === 0) dead.abort();
        await Promise.resolve();
        alive();
        return response;
      },
      stream: async (request) => {
        await Promise.resolve();
        alive();
        const signals = [dead.signal, ...(request.signal ? [request.signal] : [])];
        return watch(request, AbortSignal.any(signals));
      },
      close: () => Promise.resolve(),
    });
    const client: MemoryConnection['client'] = ({ fence, impersonate } = {}) => {
      const transport = transportAs(impersonate?.user ?? '');
      const fenced = fence ? createFencedTransport(transport, fence) : transport;
      return createRestClient(fenced, { server: 'memory', clock });
    };
    return {
      client,
      connect: (principal) => Promise.resolve(client(principal)),
      kill: () => dead.abort(),
      crashAt: (n, moment) => {
        [left, when] = [n, moment];
      },
      get crashed() {
        return dead.signal.aborted;
      },
      get writes() {
        return writes;
      },
    };
  }

  function read(request: HttpRequest): string {
    const { kind, name, namespace } = targetOf(request);
    if (name) return jsonOf(objects.get(kind, name));
    const { resource } = kind;
    const list = {
      apiVersion: apiVersionOf(resource),
      kind: `${resource.kind}List`,
      metadata: { resourceVersion: String(objects.revision) },
    };
    const items = objects.list(kind, namespace).map(jsonOf);
    return `${JSON.stringify(list).slice(0, -1)},"items":[${items.join(',')}]}`;
  }

  function write(request: HttpRequest, user: string): HttpResponse {
    const target = targetOf(request);
    const body: unknown = request.body === undefined ? undefined : JSON.parse(request.body);
    const what = textOf(request, target, body);
    const response = answer(() => {
      const index = refusals.findIndex((refusal) => refusal.what.test(what));
      const [found] = index < 0 ? [] : refusals.splice(index, 1);
      if (found) throw found.refusal;
      return perform(request, target, body);
    });
    journal.push({ what, user, body, code: response.status });
    return response;
  }

  function perform(request: HttpRequest, target: Target, body: unknown): unknown {
    const { kind, subresource } = target;
    const name = target.name ?? (body as KubeObject).metadata;
    if (subresource === 'eviction') return evict(kind, name);
    if (request.method === 'DELETE') return remove(kind, name, body);
    const options = writeOptions(request, subresource);
    const object = body as KubeObject;
    if (request.method === 'POST') return objects.create(kind, object, options);
    if (request.method === 'PUT') return objects.replace(kind, object, options);
    if (request.contentType?.includes('apply')) return objects.apply(kind, object, options);
    return patch(kind, name, { body, options });
  }

  function patch(
    kind: ServedKind,
    name: ObjectName,
    { body, options }: { readonly body: unknown; readonly options: ObjectWriteOptions },
  ): KubeObject {
    if (Array.isArray(body)) return objects.patch(kind, name, body, options);
    return objects.merge(kind, name, (live) => mergePatched(live, body) as KubeObject, options);
  }

  function evict(kind: ServedKind, name: ObjectName): unknown {
    objects.delete(kind, name, {});
    return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
  }

  function remove(kind: ServedKind, name: ObjectName, body: unknown): unknown {
    const preconditions = isRecord(body) && isRecord(body['preconditions']) ? body['preconditions'] : {};
    return (
      objects.delete(kind, name, preconditions) ?? { kind: 'Status', apiVersion: 'v1', status: 'Success' }
    );
  }

  function watch(request: HttpRequest, signal: AbortSignal): HttpStream {
    const { kind, namespace } = targetOf(request);
    const { resourceVersion = '0', timeoutSeconds = '60' } = request.query ?? {};
    const endMs = clock.monotonicMs() + Number(timeoutSeconds) * 1000;
    return { status: 200, headers: JSON_HEADERS, body: events() };

    async function* events(): AsyncGenerator<Uint8Array> {
      let position = historyOf(kind).filter(({ revision }) => revision <= Number(resourceVersion)).length;
      let sentMs = clock.monotonicMs();
      while (clock.monotonicMs() < endMs) {
        // More may happen while the reader is busy with one.
        for (let change = historyOf(kind)[position]; change; change = historyOf(kind)[position]) {
          position += 1;
          if (namespace !== undefined && change.object.metadata.namespace !== namespace) continue;
          sentMs = clock.monotonicMs();
          yield line({ type: changeTypeOf(change), object: change.object });
        }
        if (signal.aborted) throw givenUp(signal);
        const nextMs = Math.min(sentMs + BOOKMARK_MS, endMs);
        if (clock.monotonicMs() < nextMs && (await changedWithin(nextMs - clock.monotonicMs()))) continue;
        // Also while objects of other kinds change.
        sentMs = clock.monotonicMs();
        yield bookmark();
      }
    }

    function bookmark(): Uint8Array {
      const { resource } = kind;
      const metadata = { name: '', resourceVersion: String(objects.revision) };
      const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
      return line({ type: 'BOOKMARK', object });
    }

    async function changedWithin(ms: number): Promise<boolean> {
      const stop = new AbortController();
      const news = Promise.withResolvers<boolean>();
      const listener = (): void => news.resolve(true);
      listeners.add(listener);
      signal.addEventListener('abort', listener, { once: true });
      const time = clock.sleep(ms, stop.signal).then(
        () => false,
        () => true,
      );
      try {
        return await Promise.race([news.promise, time]);
      } finally {
        listeners.delete(listener);
        signal.removeEventListener('abort', listener);
        stop.abort();
      }
    }
  }

  function historyOf({ resource }: ServedKind): readonly StoredChange[] {
    return objects.history.get(resource.kind) ?? [];
  }

  function targetOf({ path }: HttpRequest): Target {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    const [group, version, rest] =
      parts[0] === 'api' ? ['', parts[1], parts.slice(2)] : [parts[1], parts[2], parts.slice(3)];
    const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined;
    const [plural, name, subresource] = namespace === undefined ? rest : rest.slice(2);
    const kind = kinds.find(
      ({ resource }) =>
        resource.plural === plural && resource.group === group && resource.version === version,
    );
    if (!kind) throw new Error(`the in-memory API server does not serve ${path}: add it to its kinds`);
    const place = namespace === undefined ? {} : { namespace };
    return { kind, namespace, subresource, name: name === undefined ? undefined : { name, ...place } };
  }
}

function writeOptions({ query }: HttpRequest, subresource: string | undefined): ObjectWriteOptions {
  return {
    manager: query?.['fieldManager'] ?? 'unknown',
    force: query?.['force'] === 'true',
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function givenUp({ reason }: AbortSignal): KubeError {
  return new KubeError('Aborted', 'given up', { cause: reason });
}

/** A stored object is replaced by a write, and never changed, so that its JSON stays the same. A test lists it hundreds of times. */
const texts = new WeakMap<KubeObject, string>();

function jsonOf(object: KubeObject): string {
  const known = texts.get(object) ?? JSON.stringify(object);
  texts.set(object, known);
  return known;
}

function answer(perform: () => unknown): HttpResponse {
  return respond(() => JSON.stringify(perform()));
}

function respond(perform: () => string): HttpResponse {
  try {
    return { status: 200, headers: JSON_HEADERS, body: perform() };
  } catch (error) {
    if (error instanceof ApiRefusal) return error.response();
    throw error;
  }
}

function line(event: { readonly type: string; readonly object: unknown }): Uint8Array {
  return Buffer.from(`${JSON.stringify(event)}\n`);
}

function textOf(
  { method, contentType }: HttpRequest,
  { kind, name, subresource }: Target,
  body: unknown,
): string {
  const applies = contentType?.includes('apply') ? 'apply' : 'patch';
  const verb = { POST: 'create', PUT: 'replace', DELETE: 'delete', PATCH: applies, GET: 'get' }[method];
  const object = name?.name ?? (body as KubeObject).metadata.name;
  return [verb, kind.resource.kind, object, subresource].filter(Boolean).join(' ');
}

function mergePatched(before: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatched(result[name], value);
  }
  return result;
}
