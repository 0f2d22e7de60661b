import { describe, expect, it } from 'vitest';
import { MAX_ADDON_OBJECTS, readAddon } from '../../../../src/controllers/hosting/addons/manifests.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

function configMap(name: string, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: kube-system${more}}\n`;
}

function configMapOf(name: string): KubeObject {
  const labels = { 'kubenode.dev/addon': 'dns' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system', labels } };
}

function read(...documents: readonly string[]): ReturnType<typeof readAddon> {
  return readAddon('dns', documents.join('---\n'));
}

function problem(...documents: readonly string[]): string {
  const found = read(...documents);
  return 'problem' in found ? found.problem : 'none';
}

describe('the manifests of an add-on', () => {
  it('HOS-51 objects are labeled, and namespaces and CRDs come first', () => {
    const crd =
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com, creationTimestamp: null}\nstatus: {}\n';
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: dns, labels: {a: b}}\n';
    const found = read(configMap('b'), configMap('a'), crd, namespace);
    expect(found).toEqual({
      objects: [
        expect.objectContaining({
          metadata: { name: 'dns', labels: { a: 'b', 'kubenode.dev/addon': 'dns' } },
        }),
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'a.example.com', labels: { 'kubenode.dev/addon': 'dns' } },
        },
        configMapOf('b'),
        configMapOf('a'),
      ],
    });
  });

  it.each<readonly [name: string, documents: readonly string[], expected: RegExp]>([
    ['no object', [''], /^the file has no objects$/],
    ['a page of a website', ['<!doctype html>\n<html></html>\n'], /^line 1: expected an object/],
    ['broken YAML', [configMap('a'), 'a: [\n'], /^line \d+: /],
    [
      'an object twice',
      [configMap('a'), configMap('b'), configMap('a')],
      /^line 9: ConfigMap kube-system\/a is already in line 1$/,
    ],
    [
      'an object of kubenode',
      [configMap('a').replace('kube-system', 'kubenode-system')],
      /^line 1: ConfigMap kubenode-system\/a: the namespaces of kubenode/,
    ],
    ['an encrypted object', [`${configMap('a')}sops: {mac: x}\n`], /encrypted/],
    ['a generated name', ['apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n'], /generateName/],
    [
      'more problems than are shown',
      ['a', 'b', 'c', 'd', 'e'].map((name) => configMap(name).replace('kube-system', 'kubenode-hosts')),
      /; and 2 more$/,
    ],
    [
      'too many objects',
      Array.from({ length: MAX_ADDON_OBJECTS + 1 }, (_, n) => configMap(`a-${n}`)),
      /^the file has 501 objects, and at most 500 are allowed$/,
    ],
  ])('HOS-51 a file is refused with %s', (_, documents, expected) => {
    expect(problem(...documents)).toMatch(expected);
  });

  it('HOS-51 a file with as many objects as allowed is read', () => {
    const found = read(...Array.from({ length: MAX_ADDON_OBJECTS }, (_, n) => configMap(`a-${n}`)));
    expect('objects' in found && found.objects.length).toBe(MAX_ADDON_OBJECTS);
  });
});
