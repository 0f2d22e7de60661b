/**
 * The kinds that this API server serves, and their paths. One request each for /api and /apis where the server supports
 * aggregated discovery (1.27 and later), otherwise one for each group version. When any group cannot be read, the whole
 * discovery fails: an unread kind must never look like a missing one.
 */
import { listAt, textAt, valueAt } from '../objects/json.ts';
import type { Resource } from '../objects/object.ts';
import type { Client } from './client.ts';
import { isKubeError, KubeError } from './errors.ts';
import { apiVersionOf, groupVersionPath } from './paths.ts';
import type { ApiCalls } from './request.ts';
import { parseJson } from './response.ts';

const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

type ReadResources = () => Promise<readonly Resource[]>;

export type Discovery = Pick<Client, 'resourceFor' | 'resources' | 'forgetResources'>;

export function createDiscovery(calls: ApiCalls): Discovery {
  const cache = new Map<string, Promise<readonly Resource[]>>();

  return {
    resourceFor,
    resources: () => cached('', () => readAll(calls)),
    forgetResources: () => cache.clear(),
  };

  async function resourceFor(apiVersion: string, kind: string): Promise<Resource> {
    const read = (): Promise<readonly Resource[]> => readVersion(calls, apiVersion);
    const wasCached = cache.has(apiVersion);
    const found = find(await cached(apiVersion, read));
    if (found) return found;
    // CRDs may be installed at any time: the cache proves that a kind exists, not that it is missing.
    cache.delete(apiVersion);
    const fresh = wasCached ? find(await cached(apiVersion, read)) : undefined;
    if (fresh) return fresh;
    throw calls.withContext({ verb: 'discover', what: `${kind} of ${apiVersion}` }, notServedError());

    function find(resources: readonly Resource[]): Resource | undefined {
      return resources.find((resource) => resource.kind === kind);
    }
  }

  /** Failures are not cached. */
  async function cached(key: string, read: ReadResources): Promise<readonly Resource[]> {
    const reading = cache.get(key) ?? read();
    cache.set(key, reading);
    try {
      return await reading;
    } catch (error) {
      if (cache.get(key) === reading) cache.delete(key);
      throw error;
    }
  }
}

function notServedError(): KubeError {
  return new KubeError('NotFound', 'the server does not serve this kind: check that its CRD is installed', {
    reason: 'NotServed',
  });
}

async function readAll(calls: ApiCalls): Promise<readonly Resource[]> {
  const roots = await Promise.all([get(calls, '/api', AGGREGATED), get(calls, '/apis', AGGREGATED)]);
  const parts = roots.map(async (root) => {
    if (textAt(root, 'kind') === 'APIGroupDiscoveryList') return parseAggregated(calls, root);
    return Promise.all(parseGroupVersions(calls, root).map((version) => readVersion(calls, version)));
  });
  return (await Promise.all(parts)).flat(2);
}

async function readVersion(calls: ApiCalls, apiVersion: string): Promise<readonly Resource[]> {
  const path = discoveryPath(calls, apiVersion);
  try {
    return parseResources(calls, apiVersion, await get(calls, path));
  } catch (error) {
    if (!isKubeError(error) || error.status !== 404) throw error;
    // The 404 may come from a proxy. The server's list of groups decides.
    const root = await get(calls, apiVersion.includes('/') ? '/apis' : '/api');
    if (!parseGroupVersions(calls, root).includes(apiVersion)) return [];
    throw error;
  }
}

/** From checked segments: an apiVersion of a commit must not reach any other path. */
function discoveryPath(calls: ApiCalls, apiVersion: string): string {
  const { group, version } = parseApiVersion(apiVersion);
  try {
    if (apiVersion === apiVersionOf({ group, version })) return groupVersionPath(group, version);
  } catch (error) {
    throw calls.withContext({ verb: 'discover', what: JSON.stringify(apiVersion) }, error);
  }
  const invalid = new KubeError('Invalid', 'invalid apiVersion: expected VERSION or GROUP/VERSION');
  throw calls.withContext({ verb: 'discover', what: JSON.stringify(apiVersion) }, invalid);
}

function get(calls: ApiCalls, path: string, accept?: string): Promise<unknown> {
  const request = { method: 'GET', path, ...(accept ? { accept } : {}) } as const;
  return calls.send({ verb: 'discover', what: path }, request, parseJson);
}

function parseGroupVersions(calls: ApiCalls, root: unknown): string[] {
  const kind = textAt(root, 'kind');
  if (kind === 'APIVersions') return listAt(root, 'versions').map(String);
  if (kind === 'APIGroupList') {
    return listAt(root, 'groups').flatMap((group) =>
      listAt(group, 'versions').map((version) => textAt(version, 'groupVersion') ?? ''),
    );
  }
  throw badAnswer(calls, 'groups', `expected a list of API groups, got ${kind ?? 'something else'}`);
}

/** Names with a slash are subresources. */
function parseResources(calls: ApiCalls, apiVersion: string, answer: unknown): Resource[] {
  const list = valueAt(answer, 'resources');
  if (textAt(answer, 'kind') !== 'APIResourceList' || !Array.isArray(list)) {
    throw badAnswer(calls, apiVersion, 'expected an APIResourceList');
  }
  return (list as readonly unknown[]).flatMap((entry) => {
    const plural = textAt(entry, 'name') ?? '';
    const kind = textAt(entry, 'kind');
    if (!kind || plural === '' || plural.includes('/')) return [];
    return {
      ...parseApiVersion(apiVersion),
      kind,
      plural,
      namespaced: valueAt(entry, 'namespaced') === true,
    };
  });
}

function parseAggregated(calls: ApiCalls, root: unknown): Resource[] {
  return listAt(root, 'items').flatMap((group) =>
    listAt(group, 'versions').flatMap((version) => {
      const at = {
        group: textAt(group, 'metadata', 'name') ?? '',
        version: textAt(version, 'version') ?? '',
      };
      // The aggregated server is unavailable: this is an outdated answer or none.
      if (textAt(version, 'freshness') === 'Stale') {
        const what = `${at.group}/${at.version}`;
        throw calls.withContext(
          { verb: 'discover', what },
          new KubeError('ServerError', 'the server of this API group does not answer: check its APIService'),
        );
      }
      return listAt(version, 'resources').flatMap((entry) => {
        const plural = textAt(entry, 'resource');
        const kind = textAt(entry, 'responseKind', 'kind');
        return plural && kind
          ? { ...at, kind, plural, namespaced: textAt(entry, 'scope') === 'Namespaced' }
          : [];
      });
    }),
  );
}

function parseApiVersion(apiVersion: string): Pick<Resource, 'group' | 'version'> {
  const [first = '', second] = apiVersion.split('/');
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
}

function badAnswer(calls: ApiCalls, what: string, message: string): KubeError {
  return calls.withContext({ verb: 'discover', what }, new KubeError('BadAnswer', message));
}
