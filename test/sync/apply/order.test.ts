import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../src/kube/objects/object-id.ts';
import { dependenciesIn, groupByStep, sortByStep } from '../../../src/sync/apply/order.ts';
import { configMap, namespace } from './fixtures.ts';

function object(apiVersion: string, kind: string, name: string, spec: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name }, spec };
}

const webhook = object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'hook');
const deployment = object('apps/v1', 'Deployment', 'web');
const binding = object('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'web');
const role = object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'web');
const crd = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.example.com', {
  group: 'example.com',
  names: { kind: 'Widget' },
});
const widget = object('example.com/v1', 'Widget', 'w');
const all = [widget, webhook, deployment, configMap('b'), configMap('a'), binding, role, crd, namespace('x')];

const names = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe('order', () => {
  it('S9 writes namespaces and CRDs first, and admission webhooks last', () => {
    expect(names(sortByStep(all, objectIdOf))).toEqual([
      'Namespace x',
      'CustomResourceDefinition widgets.example.com',
      'ClusterRole web',
      'ClusterRoleBinding web',
      'ConfigMap a',
      'ConfigMap b',
      'Deployment web',
      'Widget w',
      'ValidatingWebhookConfiguration hook',
    ]);
  });

  it('does not depend on the order of its input', () => {
    expect(sortByStep(all.toReversed(), objectIdOf)).toEqual(sortByStep(all, objectIdOf));
  });

  it('groups the objects that may be written concurrently', () => {
    expect(groupByStep([webhook, configMap('b'), configMap('a')], objectIdOf).map(names)).toEqual([
      ['ConfigMap a', 'ConfigMap b'],
      ['ValidatingWebhookConfiguration hook'],
    ]);
  });

  it.each<[name: string, dependent: KubeObject, expected: string[]]>([
    ['its namespace', { ...configMap('a'), metadata: { name: 'a', namespace: 'x' } }, ['Namespace x']],
    ['the CRD of its kind', widget, ['apiextensions.k8s.io/CustomResourceDefinition widgets.example.com']],
    [
      'the components that a MachineComponentSet names',
      object('kubenode.dev/v1alpha1', 'MachineComponentSet', 'base', {
        components: [{ componentRef: 'kubelet-1' }, { componentRef: 'not-in-this-commit' }],
      }),
      ['kubenode.dev/MachineComponent kubelet-1'],
    ],
    ['nothing outside the commit', configMap('a'), []],
  ])('S9 finds what an object depends on: %s', (_name, dependent, expected) => {
    const component = object('kubenode.dev/v1alpha1', 'MachineComponent', 'kubelet-1');
    expect(dependenciesIn([...all, component, dependent])(dependent)).toEqual(expected);
  });
});
