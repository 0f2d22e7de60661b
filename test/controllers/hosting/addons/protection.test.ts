import { describe, expect, it } from 'vitest';
import { installation } from '../../../../src/api/install/install.ts';
import { protectedReason } from '../../../../src/controllers/hosting/addons/protection.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const ADMISSION = 'admissionregistration.k8s.io/v1';

function object(apiVersion: string, kind: string, name: string, more: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name }, ...more };
}

function binding(subject: object): KubeObject {
  return object(RBAC, 'ClusterRoleBinding', 'grant', { subjects: [subject] });
}

describe('what an add-on may not write', () => {
  it.each(installation().map((each) => [`${each.kind} ${each.metadata.name}`, each] as const))(
    'HOS-51 an add-on never has %s of kubenode',
    (_, each) => {
      expect(protectedReason(each)).toMatch(/kubenode/);
    },
  );

  it.each<readonly [name: string, object: KubeObject, reason: RegExp]>([
    ['a machine', object('kubenode.dev/v1alpha1', 'Machine', 'm-1'), /declare them in git/],
    [
      'a later kind',
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'hosts.kubenode.dev'),
      /in git/,
    ],
    ['a later role', object(RBAC, 'ClusterRole', 'kubenode-later'), /belongs to kubenode/],
    ['a later policy', object(ADMISSION, 'ValidatingAdmissionPolicy', 'kubenode-later'), /belongs to/],
    ['the namespace', object('v1', 'Namespace', 'kubenode-system'), /namespaces of kubenode/],
    [
      'something in it',
      object('v1', 'Secret', 'a', { metadata: { name: 'a', namespace: 'kubenode-audit' } }),
      /namespaces/,
    ],
    [
      'rights for our account',
      binding({ kind: 'ServiceAccount', name: 'a', namespace: 'kubenode-system' }),
      /no rights/,
    ],
    [
      'rights for the user of our account',
      binding({ kind: 'User', name: 'system:serviceaccount:kubenode-system:kubenode-sync' }),
      /no rights/,
    ],
    ['rights for agents', binding({ kind: 'Group', name: 'kubenode:agents' }), /no rights/],
    [
      'rights for joining hosts',
      binding({ kind: 'Group', name: 'system:bootstrappers:kubenode' }),
      /no rights/,
    ],
  ])('HOS-51 an add-on has not %s', (_, each, reason) => {
    expect(protectedReason(each)).toMatch(reason);
  });

  it.each<readonly [name: string, object: KubeObject]>([
    ['a workload', object('apps/v1', 'Deployment', 'coredns')],
    ['a role', object(RBAC, 'ClusterRole', 'system:coredns')],
    [
      'rights for its own account',
      binding({ kind: 'ServiceAccount', name: 'coredns', namespace: 'kube-system' }),
    ],
    ['a kind of others', object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'pools.example.com')],
    [
      'another kind that names our namespace',
      object('example.com/v1', 'Probe', 'a', { subjects: [{ namespace: 'kubenode-system' }] }),
    ],
    ['a ConfigMap that is named like ours', object('v1', 'ConfigMap', 'kubenode-notes')],
  ])('HOS-51 an add-on may have %s', (_, each) => {
    expect(protectedReason(each)).toBeUndefined();
  });
});
