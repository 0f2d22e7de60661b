import { describe, expect, it } from 'vitest';
import type { MachineStatus } from '../../../src/api/generated/types.ts';
import { LABEL_MACHINESET, LABEL_POOL } from '../../../src/api/names.ts';
import { machineLabels } from '../../../src/observability/fleet/machine-labels.ts';
import { ago, machine } from '../../support/builders.ts';

const SERVED = { node: { establishedAt: ago(60) }, conditions: [], components: [] };

function runs(currentRef: string): Partial<MachineStatus> {
  return { ...SERVED, components: [{ name: 'kubelet', currentRef, state: 'Ready' }] } as never;
}

describe('machineLabels', () => {
  it.each([
    ['the version of its kubelet', {}, runs('kubelet-1.36.3'), { node: 'm-1', pool: '', version: '1.36.3' }],
    [
      'a component of another name whole',
      {},
      runs('rke2-1.36'),
      { node: 'm-1', pool: '', version: 'rke2-1.36' },
    ],
    ['no version where the kubelet is not of kubenode', {}, SERVED, { node: 'm-1', pool: '', version: '' }],
    ['its pool', { [LABEL_POOL]: 'gpu' }, SERVED, { node: 'm-1', pool: 'gpu', version: '' }],
    [
      'its machine set for a pool',
      { [LABEL_MACHINESET]: 'general' },
      SERVED,
      { node: 'm-1', pool: 'general', version: '' },
    ],
  ])('has the name of the Node, and %s', (_, labels, status, expected) => {
    expect(machineLabels(machine('m-1', { metadata: { labels }, status }))).toEqual(expected);
  });

  it('has nothing for a machine that was never in service', () => {
    expect(machineLabels(machine('m-1', { status: { conditions: [] } }))).toBeUndefined();
  });
});
