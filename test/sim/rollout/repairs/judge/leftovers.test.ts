import { describe, expect, it } from 'vitest';
import { ANNOTATION_OWNED } from '../../../../../src/api/names.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { createSimulatedApi, type SimulatedApi } from '../../../../../src/sim/api-server/simulated-api.ts';
import { leftoverViolations } from '../../../../../src/sim/rollout/repairs/judge/leftovers.ts';
import { judgedJob, judgedLedger, judgedNode } from '../repair-objects.ts';

const ENDED = judgedJob({ outcome: 'Transient' });

function apiOf(objects: readonly KubeObject[]): SimulatedApi {
  const api = createSimulatedApi({ nowMs: () => 0, changed: () => {} });
  for (const object of objects) api.put(object);
  return api;
}

function tainted(): KubeObject {
  const node = judgedNode({});
  const annotations = { [ANNOTATION_OWNED]: '{"jobs":{"g-1":["a:NoSchedule"]}}' };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

const NEEDS_PERSON: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'm-1' },
  status: { conditions: [{ type: 'NeedsPerson', status: 'True' }] },
};

describe('leftoverViolations', () => {
  it('finds nothing when every job has ended and left nothing', () => {
    const api = apiOf([ENDED, judgedNode({}), judgedLedger({ state: 'Settled' })]);
    expect(leftoverViolations(api)).toEqual([]);
  });

  it.each([
    ['a job at work', [judgedJob()], `job ${ENDED.metadata.name} does not end: Pending`],
    ['a cordon', [ENDED, judgedNode({ mark: 'g-1', isCordoned: true })], 'the cordon of a job is left'],
    ['a taint', [ENDED, tainted()], 'a taint of a job is left'],
    ['a grant', [ENDED, judgedLedger()], 'the grant of a job is left'],
    ['a case', [ENDED, NEEDS_PERSON], 'a person is asked for, and no fault is left'],
  ])('finds %s that is left', (_, objects, what) => {
    expect(leftoverViolations(apiOf(objects))).toEqual([{ machine: 'm-1', what }]);
  });
});
