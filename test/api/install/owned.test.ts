import { describe, expect, it } from 'vitest';
import { installation } from '../../../src/api/install/installation.ts';
import { installedReason } from '../../../src/api/install/owned.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

function object(apiVersion: string, kind: string, name: string): KubeObject {
  return { apiVersion, kind, metadata: { name } };
}

describe('installedReason', () => {
  it('names every object of the installation', () => {
    const unnamed = installation().filter((each) => installedReason(each) === undefined);
    expect(unnamed).toEqual([]);
  });

  it('names a CRD of our group that a newer version may install', () => {
    const crd = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'robots.kubenode.dev');
    expect(installedReason(crd)).toBe(
      'CustomResourceDefinition robots.kubenode.dev belongs to `kubenode install`',
    );
  });

  it.each([
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.example.com'),
    object('v1', 'Namespace', 'web'),
    object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'kubenode-sync-widgets'),
  ])('lets git declare $kind $metadata.name', (other) => {
    expect(installedReason(other)).toBeUndefined();
  });
});
