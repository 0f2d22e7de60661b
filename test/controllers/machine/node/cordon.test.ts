import { expect, it } from 'vitest';
import { ANNOTATION_CORDONED_BY } from '../../../../src/api/names.ts';
import { isInMaintenance, observedCordon } from '../../../../src/controllers/machine/node/cordon.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, NOW, node } from '../../../support/builders.ts';

interface Cordoned {
  readonly owner?: string;
  readonly taints?: readonly object[];
}

function cordoned({ owner, taints = [] }: Cordoned = {}): KubeObject {
  const its = node('m');
  const annotations = owner === undefined ? {} : { [ANNOTATION_CORDONED_BY]: owner };
  return { ...its, metadata: { ...its.metadata, annotations }, spec: { unschedulable: true, taints } };
}

const taint = (key: string): object => ({ key, effect: 'NoSchedule', timeAdded: ago(900) });

it.each<[name: string, node: KubeObject, want: object | undefined]>([
  ['nothing of a Node that is not cordoned', node('m'), undefined],
  [
    'nothing of a Node that a person uncordoned: the mark of the grant is left',
    { ...cordoned({ owner: 'g-7-0' }), spec: {} },
    undefined,
  ],
  ['the grant of a cordon of kubenode', cordoned({ owner: 'g-7-0' }), { grant: 'g-7-0', since: now() }],
  ['no grant of a cordon of a person', cordoned(), { since: now() }],
  [
    'when it began before it was observed, by the taint of the control plane',
    cordoned({ taints: [taint('disk'), taint('node.kubernetes.io/unschedulable')] }),
    { since: ago(900) },
  ],
  [
    'at most what the status of a Machine may hold of a text that anyone may write',
    cordoned({ owner: 'x'.repeat(100) }),
    { grant: 'x'.repeat(64), since: now() },
  ],
])('reports %s', (_, found, want) => {
  expect(observedCordon(found, undefined, NOW)).toEqual(want);
});

it('keeps when the cordon began, so that nothing is written while it stays', () => {
  const found = cordoned({ taints: [taint('node.kubernetes.io/unschedulable')] });
  expect(observedCordon(found, { since: ago(60) }, NOW)).toEqual({ since: ago(60) });
});

function now(): string {
  return NOW.toISOString();
}

it.each<[name: string, node: KubeObject, want: boolean]>([
  ['a Node that is cordoned under a grant', cordoned({ owner: 'g-7-0' }), true],
  ['no Node that a person cordoned', cordoned(), false],
  ['no Node that a person uncordoned', { ...cordoned({ owner: 'g-7-0' }), spec: {} }, false],
  ['no Node that is in service', node('m'), false],
])('R23 tells by the cordon whether kubenode works on a Node: %s', (_, found, want) => {
  expect(isInMaintenance(found)).toBe(want);
});
