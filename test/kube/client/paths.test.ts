import { describe, expect, it } from 'vitest';
import {
  apiVersionOf,
  collectionLabel,
  collectionPath,
  labelOf,
  objectPath,
} from '../../../src/kube/client/paths.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';

const MACHINES = {
  group: 'kubenode.dev',
  version: 'v1alpha1',
  kind: 'Machine',
  plural: 'machines',
  namespaced: false,
};

describe('paths', () => {
  it.each([
    [collectionPath(CONFIG_MAPS), '/api/v1/configmaps'],
    [collectionPath(CONFIG_MAPS, 'a b'), '/api/v1/namespaces/a%20b/configmaps'],
    [collectionPath(MACHINES, 'ignored'), '/apis/kubenode.dev/v1alpha1/machines'],
    [objectPath(MACHINES, { name: 'm/1' }, 'status'), '/apis/kubenode.dev/v1alpha1/machines/m%2F1/status'],
    [apiVersionOf(MACHINES), 'kubenode.dev/v1alpha1'],
    [apiVersionOf(CONFIG_MAPS), 'v1'],
  ])('%s', (path, expected) => {
    expect(path).toBe(expected);
  });

  it.each([
    [labelOf(MACHINES, { name: 'm-1' }), 'Machine m-1'],
    [labelOf(CONFIG_MAPS, { name: 'a', namespace: 'b' }), 'ConfigMap b/a'],
    [collectionLabel(MACHINES, 'b'), 'machines.kubenode.dev in b'],
    [collectionLabel(CONFIG_MAPS), 'configmaps'],
  ])('has the label %s for messages', (label, expected) => {
    expect(label).toBe(expected);
  });
});
