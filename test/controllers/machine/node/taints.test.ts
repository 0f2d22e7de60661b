import { describe, expect, it } from 'vitest';
import { hasStartupTaint } from '../../../../src/api/machine/node-state.ts';
import { planTaints } from '../../../../src/controllers/machine/node/taints.ts';
import { node } from '../../../support/builders.ts';

const STARTUP = { key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' } as const;
const MAINTENANCE = { key: 'kubenode.dev/maintenance', effect: 'PreferNoSchedule' } as const;
const GPU = { key: 'gpu', value: '1', effect: 'NoExecute' } as const;
const OPTIONS = { mayEvict: true, removeStartupTaint: false, owned: [] };

function withTaints(...taints: object[]): ReturnType<typeof node> {
  return { ...node('m'), spec: taints.length > 0 ? { taints } : {} };
}

describe('planTaints', () => {
  it('MAC-17 writes the whole list, with entries of others as they are', () => {
    const theirs = { key: 'disk', effect: 'NoExecute', timeAdded: '2030-01-01T00:00:00Z' };
    const { operations } = planTaints({ ...OPTIONS, desired: [GPU], node: withTaints(theirs) });
    expect(operations).toEqual([{ op: 'add', path: '/spec/taints', value: [theirs, GPU] }]);
  });

  it('writes nothing when the Node has them', () => {
    expect(planTaints({ ...OPTIONS, desired: [GPU], node: withTaints(GPU) }).operations).toEqual([]);
    expect(planTaints({ ...OPTIONS, desired: [], node: withTaints() }).operations).toEqual([]);
  });

  it('evicts no pods by another value of a taint, while a person forbids it', () => {
    const owned = ['gpu:NoExecute'];
    const input = { ...OPTIONS, owned, desired: [{ ...GPU, value: '2' }], node: withTaints(GPU) };
    expect(planTaints({ ...input, mayEvict: false })).toMatchObject({
      operations: [],
      owned,
      postponed: owned,
    });
    expect(planTaints(input).operations).toHaveLength(1);
  });

  it('MAC-18 removes the start-up taint when asked to', () => {
    const input = { ...OPTIONS, desired: [], node: withTaints(STARTUP) };
    expect(planTaints(input).operations).toEqual([]);
    expect(planTaints({ ...input, removeStartupTaint: true }).operations).toEqual([
      { op: 'add', path: '/spec/taints', value: [] },
    ]);
  });

  it.each<[name: string, present: readonly object[], isInMaintenance: boolean | undefined, want: unknown]>([
    ['adds it where kubenode works on the Node', [GPU], true, [GPU, MAINTENANCE]],
    ['keeps it, with what others added to it', [{ ...MAINTENANCE, timeAdded: 'x' }], true, undefined],
    ['removes it when that has ended, also one that a person set', [MAINTENANCE, GPU], false, [GPU]],
    ['removes it with any effect', [{ ...MAINTENANCE, effect: 'NoExecute' }], false, []],
    ['adds nothing where kubenode does not work', [GPU], false, undefined],
    ['leaves it where that is not asked', [MAINTENANCE], undefined, undefined],
  ])('R23 writes the taint for other tools: it %s', (_, present, isInMaintenance, want) => {
    const { operations, owned } = planTaints({
      ...OPTIONS,
      desired: [],
      node: withTaints(...present),
      isInMaintenance,
    });
    expect(operations.map((each) => ('value' in each ? each.value : each))).toEqual(
      want === undefined ? [] : [want],
    );
    expect(owned).toEqual([]);
  });

  it('R23 keeps no pod of a DaemonSet away by the taint for other tools', () => {
    const { operations } = planTaints({ ...OPTIONS, desired: [], node: withTaints(), isInMaintenance: true });
    expect(operations).toEqual([
      { op: 'add', path: '/spec/taints', value: [{ key: MAINTENANCE.key, effect: 'PreferNoSchedule' }] },
    ]);
  });
});

describe('hasStartupTaint', () => {
  it.each([
    [withTaints(STARTUP, GPU), true],
    [withTaints(GPU), false],
    [withTaints(), false],
  ])('finds it by its key', (found, want) => {
    expect(hasStartupTaint(found)).toBe(want);
  });
});
