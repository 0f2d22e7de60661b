import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { isKept, isOutOfUse } from '../../../src/api/machine/kept.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, machine, node } from '../../support/builders.ts';

const RECORD = { job: 'j', since: ago(60), until: ago(-60), max: 1 };
const STARTING: KubeObject = {
  ...node('m'),
  spec: { taints: [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }] },
};

function machineFor(isDeleted: boolean, isRecorded: boolean): Machine {
  return machine('m', {
    metadata: isDeleted ? { deletionTimestamp: ago(90) } : {},
    status: isRecorded ? { kept: RECORD } : {},
  });
}

describe('isKept', () => {
  it.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])('of a machine that is deleted %s and recorded %s is %s', (isDeleted, isRecorded, want) => {
    expect(isKept(machineFor(isDeleted, isRecorded))).toBe(want);
  });
});

describe('isOutOfUse', () => {
  it.each<[name: string, its: KubeObject | undefined, want: boolean]>([
    ['has no Node', undefined, true],
    ['registered again with the start-up taint', STARTING, true],
    ['registered again without the taint, and takes pods', node('m'), false],
  ])('of a kept machine that %s', (_, its, want) => {
    expect(isOutOfUse(machineFor(true, true), its)).toBe(want);
  });

  it('is false of a machine without a Node that is not kept', () => {
    expect(isOutOfUse(machineFor(true, false), undefined)).toBe(false);
  });
});
