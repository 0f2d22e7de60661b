import { describe, expect, it } from 'vitest';
import { observeForApproval } from '../../../src/controllers/approver/observe.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { fakeContext } from '../../support/controller/fake-context.ts';

const API = 'kubenode.dev/v1alpha1';
const MACHINE = { apiVersion: API, kind: 'Machine', metadata: { name: 'n17', uid: 'uid-17' } };

function leaseOf(...uids: readonly string[]): KubeObject {
  const ownerReferences = uids.map((uid) => ({ apiVersion: API, kind: 'Machine', name: 'n17', uid }));
  const metadata = { name: 'n17', namespace: 'kubenode-agents', ownerReferences };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
}

describe('the heartbeat of a machine, as the approver observes it', () => {
  it.each<[what: string, lease: KubeObject, ageMs: number | undefined]>([
    ['that of its own Lease', leaseOf('uid-17'), 7000],
    ['that of a Lease without an owner', leaseOf(), 7000],
    ['none beside the Lease of a Machine that had the name before', leaseOf('former'), undefined],
  ])('is %s', (_, lease, expected) => {
    const { context } = fakeContext({ objects: { Machine: [MACHINE], Lease: [lease] } });
    const input = observeForApproval({ ...context, ageMs: () => 7000 });
    expect([input.heartbeatAgeMs('n17'), input.heartbeatAgeMs('n18')]).toEqual([expected, undefined]);
  });
});
