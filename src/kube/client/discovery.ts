/**
 * Which kinds this API server serves, and under which paths. One request for each of /api and /apis where the server
 * can aggregate (1.27 and newer), else one for each group version. A group that cannot be read makes the whole answer
 * fail: a kind that was not seen must never pass for a kind that is not there.
 */

import { listAt, textAt, valueAt } from '../objects/json.ts';
import type { Resource } from '../objects/object.ts';
import type { Client } from './client.ts';
import { isKubeError, KubeError } from './errors.ts';
import type { ApiCalls } from './request.ts';
import { parseJson } from './response.ts';

const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

/** In `apiVersion` or all (''). */
type Read = () => Promise<readonly Resource[]>;

export function createDiscovery(
  calls: ApiCalls,
): Pick<Client, 'resourceFor' | 'resources' | 'forgetResources'> {
  const cache = new Map<string, Promise<readonly Resource[]>>();

  return {
    resourceFor,
    resources: () => remembered('', () => everything(calls)),
    forgetResources: () => cache.clear(),
  };

  async function resourceFor(apiVersion: string, kind: string): Promise<Resource> {
    const read = (): Promise<readonly Resource[]> => oneVersion(calls, apiVersion);
    const cached = cache.has(apiVersion);
    const found = find(await remembered(apiVersion, read));
    if (found) return found;
    // Kinds come with CRDs, at any time: what we remember says only what is there, not what is not.
    cache.delete(apiVersion);
    const fresh = cached ? find(await remembered(apiVersion, read)) : undefined;
    if (fresh) return fresh;
    throw calls.withContext({ verb: 'discover', what: `${kind} of ${apiVersion}` }, notServed());

    function find(resources: readonly Resource[]): Resource | undefined {
      return resources.find((resource) => resource.kind === kind);
    }
  }

  /** Failures are not remembered. */
  async function remembered(key: string, read: Read): Promise<readonly Resource[]> {
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

function notServed(): KubeError {
  return new KubeError('NotFound', 'the server does not serve this kind: is its CRD installed?', {
    reason: 'NotServed',
  });
}

async function everything(calls: ApiCalls): Promise<readonly Resource[]> {
  const roots = await Promise.all([ask(calls, '/api', AGGREGATED), ask(calls, '/apis', AGGREGATED)]);
  const parts = roots.map(async (root) => {
    if (textAt(root, 'kind') === 'APIGroupDiscoveryList') return aggregated(calls, root);
    return Promise.all(groupVersionsOf(calls, root).map((version) => oneVersion(calls, version)));
  });
  return (await Promise.all(parts)).flat(2);
}

async function oneVersion(calls: ApiCalls, apiVersion: string): Promise<readonly Resource[]> {
  const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  try {
    return resourcesOf(calls, apiVersion, await ask(calls, path));
  } catch (error) {
    if (!isKubeError(error) || error.status !== 404) throw error;
    // A 404 alone may be a proxy's. The server's own list of groups decides.
    const root = await ask(calls, apiVersion.includes('/') ? '/apis' : '/api');
    if (!groupVersionsOf(calls, root).includes(apiVersion)) return [];
    throw error;
  }
}

function ask(calls: ApiCalls, path: string, accept?: string): Promise<unknown> {
  const request = { method: 'GET', path, ...(accept ? { accept } : {}) } as const;
  return calls.send({ verb: 'discover', what: path }, request, parseJson);
}

function groupVersionsOf(calls: ApiCalls, root: unknown): string[] {
  const kind = textAt(root, 'kind');
  if (kind === 'APIVersions') return listAt(root, 'versions').map(String);
  if (kind === 'APIGroupList') {
    return listAt(root, 'groups').flatMap((group) =>
      listAt(group, 'versions').map((version) => textAt(version, 'groupVersion') ?? ''),
    );
  }
  throw broken(calls, 'groups', `expected a list of API groups, got ${kind ?? 'something else'}`);
}

/** Names with a slash are subresources. */
function resourcesOf(calls: ApiCalls, apiVersion: string, answer: unknown): Resource[] {
  const list = valueAt(answer, 'resources');
  if (textAt(answer, 'kind') !== 'APIResourceList' || !Array.isArray(list)) {
    throw broken(calls, apiVersion, 'expected an APIResourceList');
  }
  return (list as readonly unknown[]).flatMap((entry) => {
    const plural = textAt(entry, 'name') ?? '';
    const kind = textAt(entry, 'kind');
    if (!kind || plural === '' || plural.includes('/')) return [];
    return { ...split(apiVersion), kind, plural, namespaced: valueAt(entry, 'namespaced') === true };
  });
}

function aggregated(calls: ApiCalls, root: unknown): Resource[] {
  return listAt(root, 'items').flatMap((group) =>
    listAt(group, 'versions').flatMap((version) => {
      const at = {
        group: textAt(group, 'metadata', 'name') ?? '',
        version: textAt(version, 'version') ?? '',
      };
      // What an aggregated server said some time ago, or never.
      if (textAt(version, 'freshness') === 'Stale') {
        const what = `${at.group}/${at.version}`;
        throw calls.withContext(
          { verb: 'discover', what },
          new KubeError(
            'ServerError',
            'the server behind this API group does not answer: see its APIService',
          ),
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

function split(apiVersion: string): Pick<Resource, 'group' | 'version'> {
  const [first = '', second] = apiVersion.split('/');
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
}

function broken(calls: ApiCalls, what: string, message: string): KubeError {
  return calls.withContext({ verb: 'discover', what }, new KubeError('BadAnswer', message));
}
