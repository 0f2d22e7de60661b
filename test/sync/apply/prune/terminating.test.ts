import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import {
  declaredAgainReason,
  isKeptByOthers,
  terminatingReason,
} from '../../../../src/sync/apply/prune/terminating.ts';
import { configMap, namespace, terminating } from '../fixtures.ts';

const SINCE = '2030-01-01T00:00:00Z';

function ending(object: KubeObject, ...finalizers: readonly string[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: SINCE, finalizers } };
}

const a = configMap('a');
const withContent = { ...ending(namespace('web')), spec: { finalizers: ['kubernetes'] } };

describe('SAF-2 an object that is being deleted', () => {
  it.each<[name: string, object: KubeObject, isKept: boolean, finalizers: string]>([
    ['that a finalizer of others keeps', ending(a, 'x/y'), true, ', finalizers x/y'],
    [
      'that finalizers of Kubernetes keep',
      ending(a, 'foregroundDeletion'),
      true,
      ', finalizers foregroundDeletion',
    ],
    [
      'that our finalizer keeps',
      ending(a, 'kubenode.dev/machine'),
      false,
      ', finalizers kubenode.dev/machine',
    ],
    [
      'that both keep',
      ending(a, 'x/y', 'kubenode.dev/machine'),
      false,
      ', finalizers x/y, kubenode.dev/machine',
    ],
    [
      'with a finalizer that only looks like ours',
      ending(a, 'kubenode.dev.x/y'),
      true,
      ', finalizers kubenode.dev.x/y',
    ],
    ['that ends by itself', ending(a), false, ''],
    ['that is a Namespace with content', withContent, true, ', finalizers kubernetes'],
  ])('%s', (_, object, isKept, finalizers) => {
    expect([isKeptByOthers(object), terminatingReason(object)]).toEqual([
      isKept,
      `being deleted since ${SINCE}${finalizers}`,
    ]);
  });

  it('is not one that has finalizers and is not being deleted', () => {
    expect(isKeptByOthers({ ...a, metadata: { ...a.metadata, finalizers: ['x/y'] } })).toBe(false);
  });

  it('is created again after that, if git declares it', () => {
    expect(declaredAgainReason(terminating(a))).toBe(
      `being deleted since ${SINCE}, finalizers x/y; git declares it, so it is created again once that has ended`,
    );
  });
});
