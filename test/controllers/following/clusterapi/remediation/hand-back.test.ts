import { describe, expect, it } from 'vitest';
import { planHandBack } from '../../../../../src/controllers/following/clusterapi/remediation/hand-back.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../support/builders.ts';
import { theirObject } from '../objects.ts';

const OWNER = { namespace: 'fleet', name: 'md-1', uid: 'uid-md-1' };
const DUE = { owner: OWNER, reason: 'LadderEnded', because: 'job j: handed off' };
const CONTROLLER = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineSet',
  name: 's',
  uid: 's',
  controller: true,
};
const UNHEALTHY = { type: 'HealthCheckSucceeded', status: 'False' };

interface TheirParts {
  readonly metadata?: Partial<KubeObject['metadata']>;
  readonly conditions?: readonly object[];
}

function unhealthy({ metadata, conditions = [UNHEALTHY] }: TheirParts = {}): KubeObject {
  const found = theirObject(1);
  const identity = { uid: 'uid-md-1', resourceVersion: '7', ownerReferences: [CONTROLLER] };
  return { ...found, metadata: { ...found.metadata, ...identity, ...metadata }, status: { conditions } };
}

describe('the hand-back of a Machine of Cluster API', () => {
  it('CAP-10 sets the condition that its owner acts on, of the very version that was judged', () => {
    const plan = planHandBack(DUE, unhealthy(), NOW);
    expect(plan).toEqual({
      type: 'Write',
      object: {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { namespace: 'fleet', name: 'md-1', uid: 'uid-md-1', resourceVersion: '7' },
        status: {
          conditions: [
            {
              type: 'OwnerRemediated',
              status: 'False',
              reason: 'WaitingForRemediation',
              message: 'kubenode hands the machine back: job j: handed off',
              lastTransitionTime: '2030-01-01T12:00:00Z',
            },
          ],
        },
      },
      result: { isDone: true, reason: 'LadderEnded', message: 'job j: handed off' },
    });
  });

  it('CAP-10 writes nothing twice, and counts what was written before a crash as done', () => {
    const theirs = unhealthy({ conditions: [UNHEALTHY, { type: 'OwnerRemediated', status: 'False' }] });
    expect(planHandBack(DUE, theirs, NOW)).toEqual({
      type: 'Report',
      result: { isDone: true, reason: 'LadderEnded', message: 'job j: handed off' },
    });
  });

  it.each<[string, KubeObject | undefined, string]>([
    ['was deleted', undefined, 'OwnerNotFound'],
    ['was created again under its name', unhealthy({ metadata: { uid: 'another' } }), 'OwnerNotFound'],
    ['is being deleted', unhealthy({ metadata: { deletionTimestamp: '2030-01-01T12:00:00Z' } }), 'Deleting'],
    ['is paused', unhealthy({ metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } }), 'OwnerHold'],
    [
      'must not be remediated',
      unhealthy({ metadata: { annotations: { 'cluster.x-k8s.io/skip-remediation': '' } } }),
      'OwnerHold',
    ],
    [
      'is healthy again',
      unhealthy({ conditions: [{ type: 'HealthCheckSucceeded', status: 'True' }] }),
      'Healthy',
    ],
    ['was never checked', unhealthy({ conditions: [] }), 'Healthy'],
    ['has no owner that would replace it', unhealthy({ metadata: { ownerReferences: [] } }), 'NoController'],
  ])('CAP-10 writes nothing of a Machine that %s', (_, theirs, reason) => {
    expect(planHandBack(DUE, theirs, NOW)).toMatchObject({
      type: 'Report',
      result: { isDone: false, reason },
    });
  });

  it('CAP-10 hands back what was remediated once before', () => {
    const theirs = unhealthy({ conditions: [UNHEALTHY, { type: 'OwnerRemediated', status: 'True' }] });
    expect(planHandBack(DUE, theirs, NOW).type).toBe('Write');
  });
});
