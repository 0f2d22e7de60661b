import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { createMoments, KEYS } from '../../../../../src/sim/rollout/repairs/judge/forbidden-since.ts';
import { judgedJob, judgedNode } from '../repair-objects.ts';

function machine(status: string, hold?: object): KubeObject {
  const conditions = [{ type: 'FrequentTaskHung', status }];
  const spec = hold ? { hold } : {};
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name: 'm-1', uid: 'u' },
    spec,
    status: { conditions },
  };
}

function sinceOf(writes: readonly (KubeObject | 'Deleted')[]): ReadonlyMap<string, number> {
  let now = 0;
  let before: KubeObject | undefined;
  const moments = createMoments(() => now);
  for (const write of writes) {
    now += 1000;
    const after = write === 'Deleted' ? undefined : write;
    moments.written({ atMs: now, before, after });
    before = after;
  }
  return moments.since;
}

describe('createMoments', () => {
  it.each([
    [
      'a fault that ended',
      [machine('True'), machine('False'), machine('False')],
      KEYS.cleared('m-1', 'hung'),
      2000,
    ],
    ['a fault that is back', [machine('False'), machine('True')], KEYS.cleared('m-1', 'hung'), undefined],
    ['a hold', [machine('True', { reason: 'x' })], KEYS.held('m-1'), 1000],
    ['a machine that was deleted', [machine('True'), 'Deleted'], KEYS.deleted('u'), 2000],
    ['a Node that was replaced', [judgedNode({}), 'Deleted'], KEYS.replaced('node-uid-1'), 2000],
    ['a Node that a person uncordoned', [judgedNode({ mark: 'g-1' })], KEYS.uncordoned('m-1', 'g-1'), 1000],
    [
      'a Node that is cordoned',
      [judgedNode({ mark: 'g-1', isCordoned: true })],
      KEYS.uncordoned('m-1', 'g-1'),
      undefined,
    ],
  ] as const)('knows since when there is %s', (_, writes, key, expected) => {
    expect(sinceOf(writes).get(key)).toBe(expected);
  });

  it('knows since when a job is cancelled', () => {
    const job = judgedJob();
    const cancelled = { ...job, spec: { ...job.spec, cancel: { by: 'a', reason: 'b' } } };
    expect(sinceOf([job, cancelled]).get(KEYS.cancelled('job-1'))).toBe(2000);
  });
});
