import { describe, expect, it } from 'vitest';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';

describe('objectIdOf', () => {
  it.each([
    ['v1', undefined, 'ConfigMap a'],
    ['v1', 'b', 'ConfigMap b/a'],
    ['example.com/v1beta1', 'b', 'example.com/ConfigMap b/a'],
  ])('of apiVersion %s in namespace %s has the key %s', (apiVersion, namespace, key) => {
    const metadata = { name: 'a', ...(namespace ? { namespace } : {}) };
    const id = objectIdOf({ apiVersion, kind: 'ConfigMap', metadata });
    expect(objectKey(id)).toBe(key);
    expect(id.namespace).toBe(namespace ?? '');
  });

  it('does not depend on the version of the kind', () => {
    const ids = ['example.com/v1', 'example.com/v2'].map((apiVersion) =>
      objectIdOf({ apiVersion, kind: 'Thing', metadata: { name: 'a' } }),
    );
    expect(ids[0]).toEqual(ids[1]);
  });
});
