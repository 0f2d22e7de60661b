import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { patrolOf } from '../../../../src/controllers/componentset/observe/patrol.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, condition, NOW, node } from '../../../support/builders.ts';

const NONE = { result: 'Pass', because: 'no new problem' } as const;
const SINCE = new Date(NOW.getTime() - 60_000);

function nodeWith(type: string, status: 'True' | 'False' | 'Unknown', seconds: number): KubeObject {
  const its = node('m-1');
  const conditions = [
    condition('Ready', 'False'),
    condition(type, status, { lastTransitionTime: ago(seconds) }),
  ];
  return { ...its, status: { conditions } };
}

function job(seconds: number): RemedyOperationJob {
  return { metadata: { name: 'j', creationTimestamp: ago(seconds) } } as RemedyOperationJob;
}

describe('patrolOf', () => {
  it.each<[what: string, node: KubeObject | undefined, result: string]>([
    ['no Node', undefined, 'Pass'],
    ['a Node that is not Ready, which is judged elsewhere', node('m-1', 'False'), 'Pass'],
    ['a bad condition before the batch', nodeWith('DiskPressure', 'True', 61), 'Pass'],
    ['a bad condition since the batch began', nodeWith('DiskPressure', 'True', 59), 'Fail'],
    ['a condition of node-problem-detector', nodeWith('KernelDeadlock', 'True', 1), 'Fail'],
    ['a condition that is well when True', nodeWith('ContainerRuntimeReady', 'True', 1), 'Pass'],
    ['a condition that is not well when False', nodeWith('ContainerRuntimeReady', 'False', 1), 'Fail'],
    ['a condition that is good again', nodeWith('DiskPressure', 'False', 1), 'Pass'],
    ['a condition that became unknown', nodeWith('DiskPressure', 'Unknown', 1), 'Unknown'],
  ])('ROL-20 judges a machine by what is new on its Node: %s', (_what, its, result) => {
    expect(patrolOf({ node: its, jobs: [], restarts: NONE, since: SINCE }).result).toBe(result);
  });

  it('ROL-20 fails a machine for which a repair began in the batch', () => {
    expect(patrolOf({ node: node('m-1'), jobs: [job(61)], restarts: NONE, since: SINCE }).result).toBe(
      'Pass',
    );
    expect(patrolOf({ node: node('m-1'), jobs: [job(61), job(5)], restarts: NONE, since: SINCE })).toEqual({
      result: 'Fail',
      because: 'a repair began: RemedyOperationJob j',
    });
  });

  it.each(['Fail', 'Unknown', 'Pass'] as const)(
    'ROL-20 takes over what restarts of containers tell: %s',
    (result) => {
      const restarts = { result, because: 'restarts' };
      expect(patrolOf({ node: node('m-1'), jobs: [], restarts, since: SINCE })).toEqual(restarts);
    },
  );

  it('ROL-20 fails a machine whose Pods restart before it waits for a condition that is unknown', () => {
    const restarts = { result: 'Fail', because: 'restarts' } as const;
    const its = nodeWith('DiskPressure', 'Unknown', 1);
    expect(patrolOf({ node: its, jobs: [], restarts, since: SINCE }).result).toBe('Fail');
  });
});
