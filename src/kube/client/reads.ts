/** The read operations of the client: get, list, pages, watch. */
import type { Impersonation } from '../auth/credentials.ts';
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';
import type { HttpRequest } from '../transport/transport.ts';
import type { CallOptions, Client, ListOptions, ListPage, WatchEvent, WatchOptions } from './client.ts';
import { KubeError } from './errors.ts';
import { collectionLabel, collectionPath, labelOf, objectPath } from './paths.ts';
import type { ApiCall, ApiCalls } from './request.ts';
import { parseAnyObject, parseList, parseObject } from './response.ts';
import { readWatchEvents } from './watch-stream.ts';

// The page size of client-go: about 3 MB of Nodes.
const PAGE = 500;
// The server ends a watch after timeoutSeconds; this limit is for one that does not. The reflector has finer limits.
const WATCH_GRACE_MS = 30_000;

export function createReads(calls: ApiCalls): Pick<Client, 'get' | 'list' | 'pages' | 'watch'> {
  const list = <T>(resource: Resource, options: ListOptions = {}): Promise<ListPage<T>> =>
    onePage<T>(calls, resource, options);
  return {
    get: <T = KubeObject>(resource: Resource, name: ObjectName, options: CallOptions = {}) =>
      get<T>(calls, { resource, name, options }),
    list,
    pages: (resource, options = {}) => allPages(calls, resource, options),
    watch: (resource, options) => watch(calls, resource, options),
  };
}

interface Get {
  readonly resource: Resource;
  readonly name: ObjectName;
  readonly options: CallOptions;
}

async function get<T>(calls: ApiCalls, { resource, name, options }: Get): Promise<T> {
  const { subresource } = options;
  const call: ApiCall = { verb: 'get', what: labelOf(resource, name) };
  const request = {
    method: 'GET',
    path: objectPath(resource, name, subresource),
    ...limitsOf(options),
  } as const;
  return calls.send(call, request, (response) => {
    const isWholeObject = subresource === undefined || subresource === 'status';
    return (isWholeObject ? parseObject(response, resource, name.name) : parseAnyObject(response)) as T;
  });
}

async function onePage<T>(calls: ApiCalls, resource: Resource, options: ListOptions): Promise<ListPage<T>> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, limit = PAGE } = options;
  const query = {
    labelSelector,
    fieldSelector,
    resourceVersion,
    continue: options.continue,
    limit: String(limit),
  };
  const request: HttpRequest = {
    method: 'GET',
    path: collectionPath(resource, namespace),
    query,
    ...limitsOf(options),
  };
  return calls.send(listCall(resource, options), request, (response) => parseList<T>(response, resource));
}

async function* allPages<T>(
  calls: ApiCalls,
  resource: Resource,
  options: ListOptions,
): AsyncGenerator<ListPage<T>> {
  let version: string | undefined;
  let next = options.continue;
  do {
    const page: ListPage<T> = await onePage<T>(calls, resource, {
      ...options,
      ...(next === undefined ? {} : { continue: next }),
    });
    // All pages have the same resourceVersion. Another one means another server, or a restarted list.
    if (version !== undefined && page.resourceVersion !== version) {
      const versions = `${version} and ${page.resourceVersion}`;
      throw calls.withContext(
        listCall(resource, options),
        new KubeError('BadAnswer', `pages with different resourceVersions: ${versions}`),
      );
    }
    version = page.resourceVersion;
    next = page.continue;
    yield page;
  } while (next !== undefined);
}

async function* watch(
  calls: ApiCalls,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const { resourceVersion, namespace, labelSelector, fieldSelector, timeoutSeconds, signal } = options;
  const call: ApiCall = { verb: 'watch', what: collectionLabel(resource, namespace) };
  const query = {
    watch: '1',
    allowWatchBookmarks: 'true',
    resourceVersion,
    labelSelector,
    fieldSelector,
    timeoutSeconds: String(timeoutSeconds),
  };
  const timeoutMs = timeoutSeconds * 1000 + WATCH_GRACE_MS;
  const path = collectionPath(resource, namespace);
  try {
    const stream = await calls.open(call, { method: 'GET', path, query, ...limitsOf({ signal, timeoutMs }) });
    yield* readWatchEvents(stream, resource);
  } catch (error) {
    throw calls.withContext(call, error);
  }
}

function listCall(resource: Resource, { namespace }: ListOptions): ApiCall {
  return { verb: 'list', what: collectionLabel(resource, namespace) };
}

/** Omits absent options, as `exactOptionalPropertyTypes` requires. */
export function limitsOf(options: {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly beforeSend?: (() => void) | undefined;
  readonly impersonate?: Impersonation | undefined;
}): Pick<HttpRequest, 'signal' | 'timeoutMs' | 'beforeSend' | 'impersonate'> {
  const { signal, timeoutMs, beforeSend, impersonate } = options;
  return {
    ...(signal ? { signal } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(beforeSend ? { beforeSend } : {}),
    ...(impersonate ? { impersonate } : {}),
  };
}
