import { describe, expect, it } from 'vitest';
import { ago, type MachineParts } from '../../support/builders.ts';
import { explainPlan, machineSet, member, members, template } from '../../support/machine-sets.ts';

describe('setMembership', () => {
  const FORMER = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineSet',
    name: 'general',
    uid: 'set-0',
    controller: true,
  };
  const OTHER = { ...FORMER, name: 'other', uid: 'set-9' };
  const set = machineSet(1);
  const BOTH = 'its label kubenode.dev/machineset names this set';
  it.each<[name: string, metadata: NonNullable<MachineParts['metadata']>, want: string]>([
    ['adopts a labeled machine without an owner', { ownerReferences: [] }, `Adopt #0: ${BOTH}`],
    [
      'adopts the machines of a set that was created again',
      { ownerReferences: [FORMER] },
      `Adopt #0: ${BOTH}`,
    ],
    [
      'leaves the machine of another set alone',
      { ownerReferences: [OTHER] },
      'Create #1: 0 of 1 machines exist',
    ],
    [
      'leaves a machine without the label alone',
      { ownerReferences: [], labels: {} },
      'Create #1: 0 of 1 machines exist',
    ],
    [
      'releases a machine that a person took out',
      { labels: { 'kubenode.dev/machineset': 'lab' } },
      'Release #0: its label kubenode.dev/machineset was changed',
    ],
    [
      'adopts no machine that is being deleted',
      { ownerReferences: [], deletionTimestamp: ago(1) },
      'Create #1: 0 of 1 machines exist',
    ],
  ])('%s', (_, metadata, want) => {
    expect(explainPlan(set, members(set, 'ready', { metadata }))).toBe(want);
  });

  it('writes nothing to a machine before it owns it', () => {
    const changed = machineSet(1, { spec: { template: template({ node: { taints: [] } }) } });
    const machines = members(set, 'ready', { metadata: { ownerReferences: [] } });
    expect(explainPlan(changed, machines)).toBe(`Adopt #0: ${BOTH}`);
  });

  it('adopts no machine of another provider', () => {
    const infra = { provider: 'aws', config: {} } as const;
    const machines = members(set, 'ready', { metadata: { ownerReferences: [] }, spec: { infra } });
    expect(explainPlan(set, machines)).toBe('Create #1: 0 of 1 machines exist');
  });

  it('deletes nothing while it does not own what it counts', () => {
    const orphan = member(set, { word: 'ready', index: 0, age: 3 }, { metadata: { ownerReferences: [] } });
    const [, ...others] = members(set, 'ready ready ready');
    expect(explainPlan(set, [orphan, ...others])).toBe(`Adopt #0: ${BOTH}`);
  });

  it('adopts nothing for a set that is deleted', () => {
    const deleted = machineSet(1, { metadata: { deletionTimestamp: ago(1) } });
    expect(explainPlan(deleted, members(set, 'ready', { metadata: { ownerReferences: [] } }))).toBe(
      'finished',
    );
  });
});
