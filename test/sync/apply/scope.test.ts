import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import { scopeMismatchReason } from '../../../src/sync/apply/scope.ts';

describe('scopeMismatchReason', () => {
  it.each([
    ['a namespaced object with a namespace', CONFIG_MAPS, 'web', undefined],
    ['a cluster-scoped object without a namespace', NAMESPACES, '', undefined],
    [
      'a namespaced object without a namespace',
      CONFIG_MAPS,
      '',
      'ConfigMap of v1 is namespaced: set metadata.namespace',
    ],
    [
      'a cluster-scoped object with a namespace',
      NAMESPACES,
      'web',
      'Namespace of v1 is cluster-scoped: remove metadata.namespace',
    ],
  ])('decides for %s', (_name, resource, namespace, reason) => {
    expect(scopeMismatchReason(resource, { namespace })).toBe(reason);
  });
});
