import { describe, expect, it } from 'vitest';
import { pinnedComponents } from '../../../src/controllers/componentset/members/pins.ts';
import { appliedObject } from '../../../src/sim/rollout/server-side-apply.ts';
import { machine } from '../../support/builders.ts';

const LIVE = machine('m-1', { metadata: { managedFields: [] } });

describe('appliedObject', () => {
  it('removes what the manager does not apply any more, and keeps what others wrote', () => {
    const live = { ...LIVE, status: { drain: { state: 'Drained' }, agent: { observedGeneration: 3 } } };
    const applied = { ...LIVE, status: { phase: 'Ready' } };
    const next = appliedObject(live, applied, { part: 'status', before: ['phase', 'drain'] });
    expect(next['status']).toEqual({ phase: 'Ready', agent: { observedGeneration: 3 } });
  });

  it('merges conditions by type, in their order', () => {
    const live = { ...LIVE, status: { conditions: [{ type: 'A', status: 'True' }, { type: 'B' }] } };
    const conditions = [{ type: 'C' }, { type: 'A', status: 'False' }];
    const next = appliedObject(live, { ...LIVE, status: { conditions } }, { part: 'status', before: [] });
    expect(next['status']).toEqual({
      conditions: [{ type: 'A', status: 'False' }, { type: 'B' }, { type: 'C' }],
    });
  });

  it('makes the controller the owner of the entries that it applies, so that none is a pin', () => {
    const next = appliedObject(LIVE, LIVE, { part: 'spec', before: ['components'] });
    expect(pinnedComponents(LIVE).size).toBe(1);
    expect(pinnedComponents(next as typeof LIVE).size).toBe(0);
  });
});
