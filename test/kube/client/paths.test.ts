import { describe, expect, it } from 'vitest';
import {
  apiVersionOf,
  collectionLabel,
  collectionPath,
  groupVersionPath,
  labelOf,
  objectPath,
} from '../../../src/kube/client/paths.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';

const ROLES = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};
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
    [objectPath(MACHINES, { name: 'm:1' }, 'status'), '/apis/kubenode.dev/v1alpha1/machines/m%3A1/status'],
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

describe('objectPath', () => {
  it('addresses an object, with characters of its name escaped', () => {
    expect(objectPath(CONFIG_MAPS, { name: 'a', namespace: 'web' }, 'status')).toBe(
      '/api/v1/namespaces/web/configmaps/a/status',
    );
    expect(objectPath(ROLES, { name: 'system:node' })).toBe(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    );
    expect(objectPath(ROLES, { name: 'a?watch=1#x' })).toMatch(/clusterroles\/a%3Fwatch%3D1%23x$/);
  });

  it.each(['', '.', '..', 'a/b', '%2e%2e', 'a\nb', '\ud800'])('refuses the name %j', (name) => {
    expect(() => objectPath(ROLES, { name })).toThrow('cannot be part of a request path');
  });

  it.each(['.', '..', '../kube-system', '%2f'])('refuses the namespace %j', (namespace) => {
    expect(() => collectionPath(CONFIG_MAPS, namespace)).toThrow('cannot be part of a request path');
  });

  it('refuses a group and a version that are not one segment', () => {
    expect(() => groupVersionPath('..', 'v1')).toThrow('cannot be part of a request path');
    expect(() => groupVersionPath('apps', 'v1/../../x')).toThrow('cannot be part of a request path');
  });
});
