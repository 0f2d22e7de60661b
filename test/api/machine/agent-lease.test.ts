import { describe, expect, it } from 'vitest';
import { agentLease, readAgentLeases } from '../../../src/api/machine/agent-lease.ts';
import { SILENT_MS } from '../../../src/api/machine/heartbeat.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const START = Date.parse('2030-01-01T00:00:00Z');

function lease(ownerUid: string | undefined, afterMs = 0, namespace = 'kubenode-agents'): KubeObject {
  const owner = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', name: 'm', uid: ownerUid ?? '' };
  const ownerReferences = ownerUid === undefined ? [] : [owner];
  const spec = { renewTime: new Date(START + afterMs).toISOString() };
  const metadata = { name: 'm', namespace, ownerReferences };
  return Object.assign({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata }, { spec });
}

function read(found: KubeObject | undefined, ageMs: number | undefined): ReturnType<typeof agentLease> {
  const context = { ageMs: () => ageMs, view: () => ({ get: () => found }) };
  return agentLease({ metadata: { name: 'm', uid: 'u1' } }, context as unknown as ReconcileContext);
}

describe('agentLease', () => {
  it.each<[string, KubeObject | undefined, number | undefined, number | undefined]>([
    ['that of the Machine', lease('u1'), 5000, 5000],
    ['one without an owner, which an agent made before its Machine was read', lease(undefined), 5000, 5000],
    ['none of a deleted Machine with the same name', lease('u0'), 5000, undefined],
    ['none that is missing', undefined, undefined, undefined],
  ])('reads %s', (_, found, ageMs, expected) => {
    expect(read(found, ageMs)?.ageMs).toBe(expected);
  });

  it('has the time that the agent wrote', () => {
    expect(read(lease('u1', 1000), 5000)?.renewTime).toBe('2030-01-01T00:00:01.000Z');
  });
});

describe('readAgentLeases', () => {
  const { changed, keys } = readAgentLeases(({ metadata }) => [metadata.name]);

  it.each<[string, KubeObject, KubeObject, boolean]>([
    ['no heartbeat after another', lease('u1'), lease('u1', SILENT_MS), false],
    ['the first heartbeat after a silence', lease('u1'), lease('u1', SILENT_MS + 1), true],
    ['the first heartbeat of another Machine', lease('u0'), lease('u1', 1000), true],
  ])('reconciles for %s', (_, before, after, expected) => {
    expect(changed?.(before, after)).toBe(expected);
  });

  it('follows the Leases of agents only', () => {
    expect([keys?.(lease('u1')), keys?.(lease('u1', 0, 'kube-node-lease'))]).toEqual([['m'], []]);
  });
});
