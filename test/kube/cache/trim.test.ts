import { describe, expect, it } from 'vitest';
import { createTransform } from '../../../src/kube/cache/trim.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

function node(name: string): KubeObject {
  return JSON.parse(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, managedFields: [{ manager: 'kubelet' }], labels: { zone: 'somewhere-far-away' } },
      status: {
        images: [{ names: ['a'] }],
        conditions: [{ type: 'Ready', message: 'kubelet is posting ready status' }],
      },
    }),
  ) as KubeObject;
}

function managed(...names: string[]): KubeObject {
  const managedFields = names.map((manager) => ({ manager, operation: 'Apply' as const }));
  return { ...node('a'), metadata: { name: 'a', managedFields } };
}

describe('createTransform', () => {
  it('always drops managedFields, and the given fields', () => {
    expect(createTransform(['status.images', 'spec.nowhere.deep'])(node('a'))).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a', labels: { zone: 'somewhere-far-away' } },
      status: { conditions: [{ type: 'Ready', message: 'kubelet is posting ready status' }] },
    });
    expect(createTransform()(node('a'))).toHaveProperty('status.images');
  });

  it('drops a field of each item of a list, and nothing where there is no list', () => {
    const containers = [{ name: 'a', env: [{ name: 'PASSWORD' }] }, { name: 'b' }];
    const pod = { ...node('a'), kind: 'Pod', spec: { containers, initContainers: 'none' } };
    const transform = createTransform([
      'spec.containers.*.env',
      'spec.initContainers.*.env',
      'spec.none.*.env',
    ]);
    expect(transform(pod)).toMatchObject({
      spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: 'none' },
    });
    expect(containers[0]).not.toHaveProperty('env');
  });

  it('keeps the managedFields of the named managers, as an empty list when there are none', () => {
    const transform = createTransform([], ['ours']);
    expect(transform(managed('ours', 'theirs')).metadata.managedFields).toEqual([
      { manager: 'ours', operation: 'Apply' },
    ]);
    expect(transform(managed('theirs')).metadata.managedFields).toEqual([]);
  });

  it('keeps of all managers what they own below a path, and nothing else of others', () => {
    const transform = createTransform([], ['ours'], ['f:spec', 'f:parts']);
    const owners = (fieldsV1: unknown): unknown => {
      const object = {
        ...node('a'),
        metadata: { name: 'a', managedFields: [{ manager: 'theirs', operation: 'Update', fieldsV1 }] },
      };
      return transform(object as KubeObject).metadata.managedFields?.map((each) => each.fieldsV1);
    };
    const parts = { 'f:parts': { 'k:{"name":"a"}': {} } };
    expect(owners({ 'f:spec': { ...parts, 'f:size': {} }, 'f:status': {} })).toEqual([{ 'f:spec': parts }]);
    expect(owners({ 'f:spec': { 'f:size': {} } })).toEqual([]);
  });

  it('changes no value, for any number of strings', () => {
    const transform = createTransform();
    for (let index = 0; index < 30_000; index += 1) {
      const object = node(`node-with-a-long-name-${index}`);
      const { metadata } = transform(object);
      if (metadata.name !== `node-with-a-long-name-${index}`) throw new Error(`became ${metadata.name}`);
    }
    expect(transform(node('b')).metadata.labels).toEqual({ zone: 'somewhere-far-away' });
  });
});
