import { describe, expect, it } from 'vitest';
import { pinnedComponents } from '../../../src/controllers/componentset/members/pins.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { appliedObject } from '../../../src/sim/rollout/server-side-apply.ts';
import { machine } from '../../support/builders.ts';

const MANAGER = 'kubenode-componentset';
const LIVE = machine('m-1', { metadata: { managedFields: [] } });

describe('appliedObject', () => {
  it('removes what the manager does not apply any more, and keeps what others wrote', () => {
    const live = { ...LIVE, status: { drain: { state: 'Drained' }, agent: { observedGeneration: 3 } } };
    const applied = { ...LIVE, status: { phase: 'Ready' } };
    const next = appliedObject(live, applied, {
      manager: MANAGER,
      part: 'status',
      before: ['phase', 'drain'],
    });
    expect(next['status']).toEqual({ phase: 'Ready', agent: { observedGeneration: 3 } });
  });

  it('merges conditions by type, in their order', () => {
    const live = { ...LIVE, status: { conditions: [{ type: 'A', status: 'True' }, { type: 'B' }] } };
    const conditions = [{ type: 'C' }, { type: 'A', status: 'False' }];
    const next = appliedObject(
      live,
      { ...LIVE, status: { conditions } },
      { manager: MANAGER, part: 'status', before: [] },
    );
    expect(next['status']).toEqual({
      conditions: [{ type: 'A', status: 'False' }, { type: 'B' }, { type: 'C' }],
    });
  });

  it('makes the controller the owner of the entries that it applies, so that none is a pin', () => {
    const next = appliedObject(LIVE, LIVE, { manager: MANAGER, part: 'spec', before: ['components'] });
    expect(pinnedComponents(LIVE).size).toBe(1);
    expect(pinnedComponents(next as typeof LIVE).size).toBe(0);
  });

  it('merges labels and owners, and removes the labels that the manager does not apply any more', () => {
    const owner = { apiVersion: 'v1', kind: 'MachineSet', name: 'set', uid: 'set-1' };
    const live = { ...LIVE, metadata: { ...LIVE.metadata, labels: { theirs: 'x' } } };
    const apply = (on: KubeObject, labels: Record<string, string>): KubeObject => {
      const metadata = { name: 'm-1', labels, ownerReferences: [owner] };
      return appliedObject(on, { ...LIVE, metadata }, { manager: 'sets', part: 'spec', before: [] });
    };
    const first = apply(live, { a: '1', b: '2' });
    expect(first.metadata).toMatchObject({
      labels: { theirs: 'x', a: '1', b: '2' },
      ownerReferences: [owner],
    });
    const second = apply(first, { b: '3' });
    expect(second.metadata.labels).toEqual({ theirs: 'x', b: '3' });
    expect(second.metadata.ownerReferences).toEqual([owner]);
    expect(second.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['sets']);
  });
});
