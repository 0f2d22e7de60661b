import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { nameProblems } from '../../../src/sync/judge/names.ts';

function object(apiVersion: string, kind: string, name: string, namespace?: string): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

const BAD_NAMES = ['.', '..', 'a/b', 'a%2fb', 'line\nbreak', 'ünï', 'a b', '\u001b[31m', 'a'.repeat(300)];

describe('nameProblems', () => {
  it.each([
    object('v1', 'ConfigMap', 'a.b-c', 'default'),
    object('v1', 'Namespace', 'web'),
    object('apps/v1', 'Deployment', 'web', 'web'),
    object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'system:Node.reader_1'),
    object('networking.k8s.io/v1', 'IPAddress', '2001:db8::1'),
    object('image.openshift.io/v1', 'Image', 'sha256:AbC'),
    object('kubenode.dev/v1alpha1', 'Machine', 'm-1'),
  ])('accepts $apiVersion $kind $metadata.name', (valid) => {
    expect(nameProblems(valid)).toEqual([]);
  });

  it.each(BAD_NAMES)('refuses the name %j for every kind', (name) => {
    for (const [apiVersion, kind] of [
      ['v1', 'ConfigMap'],
      ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
      ['example.com/v1', 'Widget'],
    ] as const) {
      expect(nameProblems(object(apiVersion, kind, name))).toEqual([
        expect.stringMatching(/^metadata\.name: expected at most 253 .*, got "[\u0020-\uffff]*$/),
      ]);
    }
  });

  it.each([...BAD_NAMES, 'Upper', 'a.b', ''])('refuses the namespace %j', (namespace) => {
    expect(nameProblems(object('v1', 'ConfigMap', 'a', namespace))).toEqual([
      expect.stringMatching(/^metadata\.namespace: expected at most 63 lower-case letters/),
    ]);
  });

  it('refuses upper case where Kubernetes allows none', () => {
    const rule = 'metadata.name: expected at most 253 lower-case letters, digits, - and ., got "Web"';
    expect(nameProblems(object('v1', 'ConfigMap', 'Web', 'default'))).toEqual([rule]);
    expect(nameProblems(object('networking.k8s.io/v1', 'Ingress', 'Web', 'default'))).toEqual([rule]);
    expect(nameProblems(object('v1', 'Namespace', 'Web'))).toHaveLength(1);
  });

  it.each(['../../x', 'a/b/c', '/v1', 'v1/', '', 'apps/V1', 'a b/v1', '..', 'apps/..', 'apps/v1?watch=1'])(
    'refuses the apiVersion %j',
    (apiVersion) => {
      expect(nameProblems(object(apiVersion, 'Widget', 'a'))).toContainEqual(
        expect.stringMatching(/^apiVersion: expected VERSION or GROUP\/VERSION/),
      );
    },
  );

  it.each(['../x', 'Con figMap', 'K\n', ''])('refuses the kind %j', (kind) => {
    expect(nameProblems(object('v1', kind, 'a'))).toEqual([expect.stringMatching(/^kind: expected/)]);
  });

  it.each([
    ['v1', 'Binding'],
    ['policy/v1', 'Eviction'],
    ['authentication.k8s.io/v1', 'TokenReview'],
    ['authorization.k8s.io/v1', 'SubjectAccessReview'],
  ])('refuses %s %s, which no server stores', (apiVersion, kind) => {
    expect(nameProblems(object(apiVersion, kind, 'a'))).toEqual([
      `${kind} is a request and never stored: remove it from git`,
    ]);
    expect(nameProblems(object('example.com/v1', kind, 'a'))).toEqual([]);
  });
});
