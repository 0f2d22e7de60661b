import { describe, expect, it } from 'vitest';
import {
  builtInResources,
  customResources,
} from '../../../../../../src/controllers/hosting/drivers/etcd/drill/resources.ts';

const LIST = ['get', 'list'];

function group(name: string, version: string, ...resources: readonly string[]): object {
  const listed = resources.map((resource) => ({
    resource,
    verbs: resource === 'bindings' ? ['create'] : LIST,
  }));
  return { metadata: name === '' ? {} : { name }, versions: [{ version, resources: listed }] };
}

function definition(plural: string, parts: object = {}): object {
  const versions = [
    { name: 'v1beta1', served: true, storage: false },
    { name: 'v1', served: true, storage: true },
  ];
  return { spec: { group: 'kubenode.dev', names: { plural }, versions, ...parts } };
}

describe('the resources of an API server', () => {
  it.each([
    ['', 'secrets', 'secrets', '/api/v1/secrets', 'secrets/'],
    ['', 'nodes', 'nodes', '/api/v1/nodes', 'minions/'],
    ['', 'services', 'services', '/api/v1/services', 'services/specs/'],
    ['', 'endpoints', 'endpoints', '/api/v1/endpoints', 'services/endpoints/'],
    ['apps', 'deployments', 'deployments.apps', '/apis/apps/v1/deployments', 'deployments/'],
    [
      'apiextensions.k8s.io',
      'customresourcedefinitions',
      'customresourcedefinitions.apiextensions.k8s.io',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      'apiextensions.k8s.io/customresourcedefinitions/',
    ],
  ])('HOS-32 are kept where Kubernetes keeps them: group %j, %s', (name, resource, ...expected) => {
    const [found] = builtInResources([{ items: [group(name, 'v1', resource)] }], new Set());
    expect([found?.name, found?.path, found?.keys]).toEqual(expected);
  });

  it('HOS-32 come once, in the version that is preferred, and only where they can be listed', () => {
    const core = { items: [group('', 'v1', 'events', 'bindings')] };
    const others = {
      items: [group('events.k8s.io', 'v1', 'events'), group('kubenode.dev', 'v1alpha1', 'machines')],
    };
    const found = builtInResources([core, others], new Set(['kubenode.dev']));
    expect(found.map(({ path }) => path)).toEqual(['/api/v1/events']);
  });

  it('HOS-32 of definitions are asked for in the version in which they are stored', () => {
    const { groups, resources } = customResources([definition('machines')]);
    expect([...groups]).toEqual(['kubenode.dev']);
    expect(resources).toEqual([
      {
        name: 'machines.kubenode.dev',
        path: '/apis/kubenode.dev/v1/machines',
        keys: 'kubenode.dev/machines/',
        isCustom: true,
      },
    ]);
  });

  it('HOS-32 are not asked for where a webhook converts them, or none is served', () => {
    const converted = definition('machines', { conversion: { strategy: 'Webhook' } });
    const unserved = definition('jobs', { versions: [{ name: 'v1', served: false, storage: true }] });
    expect(customResources([converted, unserved]).resources).toEqual([]);
  });
});
