import { expect, it } from 'vitest';
import { type CordonState, planCordon, planUncordon } from '../../../src/kube/drain/cordon.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { node } from '../../support/builders.ts';

const MARK = { annotation: 'kubenode.dev/cordoned-by', owner: 'g-1' };
const PATH = '/metadata/annotations/kubenode.dev~1cordoned-by';
const CORDON = { op: 'add', path: '/spec/unschedulable', value: true };
const UNCORDON = { op: 'remove', path: '/spec/unschedulable' };

function marked(unschedulable: boolean | undefined, owner?: string): KubeObject {
  const annotations = owner === undefined ? {} : { annotations: { [MARK.annotation]: owner } };
  return { ...node('n1', 'True', annotations), spec: { unschedulable } };
}

it.each<[name: string, live: KubeObject, state: CordonState, cordon: unknown, uncordon: unknown]>([
  [
    'a free node is cordoned with our mark',
    marked(undefined),
    'None',
    [{ op: 'add', path: '/metadata/annotations', value: { [MARK.annotation]: 'g-1' } }, CORDON],
    [],
  ],
  [
    'a mark that another owner left behind is replaced',
    marked(false, 'g-0'),
    'None',
    [{ op: 'add', path: PATH, value: 'g-1' }, CORDON],
    [],
  ],
  [
    'our own cordon is kept, and removed',
    marked(true, 'g-1'),
    'Ours',
    [],
    [UNCORDON, { op: 'remove', path: PATH }],
  ],
  ['the cordon of a person is never touched', marked(true), 'Foreign', [], []],
  ['the cordon of another owner is never touched', marked(true, 'g-0'), 'OtherOwner', [], []],
  [
    'the uncordon of a person is respected, and only our mark is removed',
    marked(false, 'g-1'),
    'UncordonedByPerson',
    [],
    [{ op: 'remove', path: PATH }],
  ],
])('%s', (...[, live, state, cordon, uncordon]) => {
  expect(planCordon(live, MARK)).toMatchObject({ state, operations: cordon });
  expect(planUncordon(live, MARK)).toMatchObject({ state, operations: uncordon });
});

it('keeps the other annotations, and explains what it finds', () => {
  const live = node('n1', 'True', { annotations: { x: 'y' } });
  expect(planCordon(live, MARK)).toEqual({
    state: 'None',
    because: 'the node is not cordoned',
    operations: [{ op: 'add', path: PATH, value: 'g-1' }, CORDON],
  });
  expect(planCordon(marked(false, 'g-1'), MARK).because).toBe('a person has uncordoned the node');
});
