import { describe, expect, it } from 'vitest';
import { heldReason } from '../../../../src/controllers/remedyjob/power/released.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

function pod(name: string, spec: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...metadata },
    spec: { nodeName: 'm', ...spec },
  };
}

function attachment(name: string, nodeName: unknown): KubeObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name },
    spec: { nodeName },
  };
}

const tolerating = (toleration: object): KubeObject => pod('db', { tolerations: [toleration] });
const KEY = 'node.kubernetes.io/out-of-service';

describe('heldReason', () => {
  it.each<[name: string, pods: readonly KubeObject[], expected: string | undefined]>([
    ['no pods', [], undefined],
    ['a pod', [pod('db')], 'the node still has 1 pods (shop/db)'],
    ['a pod of another node', [pod('db', { nodeName: 'other' })], undefined],
    ['a pod that is not scheduled', [pod('db', { nodeName: undefined })], undefined],
    ['a static pod', [pod('api', {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } })], undefined],
    ['a pod that tolerates every taint', [tolerating({ operator: 'Exists' })], undefined],
    [
      'a pod that tolerates the taint',
      [tolerating({ key: KEY, operator: 'Exists', effect: 'NoExecute' })],
      undefined,
    ],
    ['a pod that tolerates its value', [tolerating({ key: KEY, value: 'nodeshutdown' })], undefined],
    [
      'a pod that tolerates another value',
      [tolerating({ key: KEY, value: 'x' })],
      'the node still has 1 pods (shop/db)',
    ],
    [
      'a pod that tolerates another taint',
      [tolerating({ key: 'x', operator: 'Exists' })],
      'the node still has 1 pods (shop/db)',
    ],
    [
      'a pod that tolerates another effect',
      [tolerating({ operator: 'Exists', effect: 'NoSchedule' })],
      'the node still has 1 pods (shop/db)',
    ],
    [
      'a pod that tolerates it for a time',
      [tolerating({ operator: 'Exists', tolerationSeconds: 300 })],
      'the node still has 1 pods (shop/db)',
    ],
    [
      'tolerations that cannot be read',
      [pod('db', { tolerations: [null, 'x'] })],
      'the node still has 1 pods (shop/db)',
    ],
    [
      'more than a message names',
      [pod('d'), pod('c'), pod('b'), pod('a')],
      'the node still has 4 pods (shop/a, shop/b, shop/c, …)',
    ],
  ])('R35 tells what a node still holds: %s', (_, pods, expected) => {
    expect(heldReason({ node: 'm', pods, attachments: [] })).toBe(expected);
  });

  it('R35 names the volumes that are attached to this node', () => {
    const attachments = [
      attachment('csi-1', 'm'),
      attachment('csi-2', 'other'),
      attachment('csi-3', undefined),
    ];
    expect(heldReason({ node: 'm', pods: [pod('db')], attachments })).toBe(
      'the node still has 1 pods (shop/db) and 1 attached volumes (csi-1)',
    );
    expect(heldReason({ node: 'm', pods: [], attachments })).toBe(
      'the node still has 1 attached volumes (csi-1)',
    );
  });
});
