import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../src/api/generated/types.ts';
import type { MachineParts } from '../../support/builders.ts';
import { explainPlan, machineSet, member, members } from '../../support/machine-sets.ts';

const annotated = (key: string, value = ''): MachineParts => ({
  metadata: { annotations: { [`kubenode.dev/${key}`]: value } },
});

describe('inDeletionOrder', () => {
  it.each<[name: string, order: MachineSet['spec']['deletionOrder'], first: MachineParts, want: string]>([
    [
      'MAC-31 takes the marked one before all others',
      'Newest',
      annotated('delete'),
      '#0: annotation kubenode.dev/delete',
    ],
    [
      'MAC-31 takes a lower priority before an older one',
      'Newest',
      annotated('deletion-priority', '-5'),
      '#0: deletion priority -5',
    ],
    [
      'MAC-31 spares a higher priority',
      'Oldest',
      annotated('deletion-priority', '5'),
      '#1: the oldest first',
    ],
    [
      'MAC-31 ignores a priority that is not a number',
      'Newest',
      annotated('deletion-priority', 'high'),
      '#2: the newest first',
    ],
    [
      'MAC-31 takes one that is not Ready before the newest',
      'Newest',
      { status: { conditions: [] } },
      '#0: not Ready',
    ],
    [
      'MAC-31 takes one that differs from the template',
      'Newest',
      { spec: { host: { type: 'systemd' } } },
      '#0: not up to date',
    ],
    ['MAC-31 takes the oldest one first', 'Oldest', {}, '#0: the oldest first'],
    ['MAC-31 takes the newest one first', 'Newest', {}, '#2: the newest first'],
  ])('%s', (_, deletionOrder, first, want) => {
    const set = machineSet(2, { spec: { deletionOrder } });
    const [, ...others] = members(set, 'ready ready ready');
    const changed = member(set, { word: 'ready', index: 0, age: 3 }, first);
    expect(explainPlan(set, [changed, ...others])).toBe(
      `Delete ${want.replace(': ', ': 3 machines exist, 2 are desired: ')}`,
    );
  });

  it('MAC-31 has a random order that is the same in every process', () => {
    const set = machineSet(1, { spec: { deletionOrder: 'Random' } });
    const all = members(set, 'ready '.repeat(12));
    expect(explainPlan(set, all.toReversed())).toBe(explainPlan(set, all));
    expect(explainPlan(set, all)).not.toBe(
      explainPlan(machineSet(1), all).replaceAll('the oldest first', 'by its hash'),
    );
  });
});
