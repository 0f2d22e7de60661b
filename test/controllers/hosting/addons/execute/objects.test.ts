import { describe, expect, it } from 'vitest';
import { findServed } from '../../../../../src/controllers/hosting/addons/execute/objects.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import type { Resource } from '../../../../../src/kube/objects/object.ts';

const CONFIG_MAP: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const NODE: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const MISSING = new KubeError('NotFound', 'not served');

describe('an object of an add-on as its API server names it', () => {
  it.each<
    readonly [name: string, resource: Resource, declared: string | undefined, want: string | undefined]
  >([
    ['keeps its namespace', CONFIG_MAP, 'kube-system', 'kube-system'],
    ['is in the default namespace', CONFIG_MAP, undefined, 'default'],
    ['has no namespace', NODE, undefined, undefined],
    ['loses a namespace that its kind does not have', NODE, 'kube-system', undefined],
  ])('HOS-51 an object of an add-on %s', async (_, resource, namespace, want) => {
    const metadata = { name: 'a', ...(namespace === undefined ? {} : { namespace }) };
    const client = { resourceFor: async () => resource };
    const served = await findServed(client, { apiVersion: 'v1', kind: resource.kind, metadata });
    expect(served?.object.metadata).toEqual({
      name: 'a',
      ...(want === undefined ? {} : { namespace: want }),
    });
  });

  it('HOS-51 is unknown while its kind is not served', async () => {
    const client = { resourceFor: () => Promise.reject(MISSING) };
    const object = { apiVersion: 'example.com/v1', kind: 'Pool', metadata: { name: 'a' } };
    expect(await findServed(client, object)).toBeUndefined();
  });
});
