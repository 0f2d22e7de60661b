import { describe, expect, it } from 'vitest';
import {
  isHeldLease,
  leaseNameFor,
  namespaceOfLease,
  nodeOfLease,
} from '../../../../src/defender/facts/signs/lease-names.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../../support/builders.ts';

const PATTERN = 'medik8s-leases/node-{node}';

function lease(spec: object): KubeObject {
  const metadata = { namespace: 'medik8s-leases', name: 'node-m-1' };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

describe('the name of a Lease in a policy', () => {
  it.each([
    [PATTERN, 'medik8s-leases/node-m-1', 'm-1'],
    [PATTERN, 'medik8s-leases/node-', false],
    [PATTERN, 'medik8s-leases/other', false],
    [PATTERN, 'other/node-m-1', false],
    ['locks/{node}', 'locks/m-1.example.com', 'm-1.example.com'],
    ['locks/{node}-{node}', 'locks/m-1-m-1', false],
    ['locks/cluster', 'locks/cluster', undefined],
    ['locks/cluster', 'locks/cluster-2', false],
  ])('R23 %s is met by %s for node %s', (pattern, name, node) => {
    expect(nodeOfLease(pattern, name)).toBe(node);
  });

  it('R23 is made from the name of the node', () => {
    expect([leaseNameFor(PATTERN, 'm-1'), leaseNameFor('locks/all', 'm-1')]).toEqual([
      'medik8s-leases/node-m-1',
      'locks/all',
    ]);
  });

  it('has a namespace', () => {
    expect([PATTERN, 'locks/all', 'locks/{node}'].map(namespaceOfLease)).toEqual([
      'medik8s-leases',
      'locks',
      'locks',
    ]);
  });

  it.each(['node-{node}', '/node', 'a/b/c', '', '../node', './node', '{node}/lock', 'A/b', 'a/..', 'a/'])(
    'is not in %j',
    (pattern) => {
      expect(namespaceOfLease(pattern)).toBeUndefined();
    },
  );
});

describe('a Lease of another tool', () => {
  it.each([
    ['has no holder', {}, false],
    ['was released', { holderIdentity: '', leaseDurationSeconds: 60, renewTime: ago(1) }, false],
    ['was renewed in time', { holderIdentity: 'nhc', leaseDurationSeconds: 60, renewTime: ago(59) }, true],
    [
      'was renewed too long ago',
      { holderIdentity: 'nhc', leaseDurationSeconds: 60, renewTime: ago(61) },
      false,
    ],
    [
      'was acquired and never renewed',
      { holderIdentity: 'nhc', leaseDurationSeconds: 60, acquireTime: ago(61) },
      false,
    ],
    ['has no duration', { holderIdentity: 'nhc', renewTime: ago(9999) }, true],
    ['has an unreadable time', { holderIdentity: 'nhc', leaseDurationSeconds: 60, renewTime: 'soon' }, true],
  ])('that %s', (_, spec, held) => {
    expect(isHeldLease(lease(spec), NOW)).toBe(held);
  });
});
