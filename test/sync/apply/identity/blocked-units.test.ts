import { describe, expect, it } from 'vitest';
import { withoutBlockedUnits } from '../../../../src/sync/apply/identity/blocked-units.ts';
import { applyInput, configMap, entry, live, terminating, unit } from '../fixtures.ts';
import { planOf } from './fixtures.ts';

const [SAME, GONE, ENDS, HELD] = ['same', 'gone', 'ends', 'held'].map((name) => configMap(name));
const BLOCKED = new Map([['web', { reason: 'IdentityDenied', because: 'it may not' } as const]]);

describe('withoutBlockedUnits', () => {
  it('S29 lets writes and deletes of the unit wait, and keeps what is only observed', () => {
    if (!SAME || !GONE || !ENDS || !HELD) throw new Error('four objects are needed');
    const scenario = {
      git: [unit('web', [SAME, configMap('new')]), unit('other', [configMap('b')])],
      inventory: [entry(SAME), entry(GONE), entry(ENDS), entry(HELD)],
      cluster: [live(SAME), live(GONE), terminating(ENDS)],
      more: { budget: { maxObjects: 100, maxPercent: 100 } },
    };
    const plan = withoutBlockedUnits(planOf(scenario), BLOCKED, applyInput(scenario).inventory);
    expect(Object.fromEntries(plan.objects.map(({ id, action }) => [id.name, action]))).toEqual({
      same: 'same',
      new: 'wait',
      b: 'create',
    });
    expect(Object.fromEntries(plan.prune.map((each) => [each.entry.name, each.action]))).toEqual({
      gone: 'wait',
      ends: 'confirm',
      held: 'confirm',
    });
  });

  it('S29 binds no acknowledgement to a delete that waits', () => {
    if (!GONE) throw new Error('an object is needed');
    const scenario = { git: [], inventory: [entry(GONE)], cluster: [live(GONE)] };
    const input = applyInput({ ...scenario, more: { budget: { maxObjects: 100, maxPercent: 100 } } });
    const [removal] = planOf({ ...scenario, more: input }).prune;
    if (!removal) throw new Error('a delete is needed');
    const acknowledged = { ...removal, entry: { ...removal.entry, acknowledgedBy: 'id' } };
    const plan = { objects: [], prune: [{ ...acknowledged, action: 'delete' } as const], holds: [] };
    const [waiting] = withoutBlockedUnits(plan, BLOCKED, input.inventory).prune;
    expect(waiting).toMatchObject({ action: 'wait', waitReason: 'IdentityDenied', because: 'it may not' });
    expect(waiting?.entry.acknowledgedBy).toBeUndefined();
  });
});
