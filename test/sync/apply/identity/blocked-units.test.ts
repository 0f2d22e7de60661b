import { describe, expect, it } from 'vitest';
import { withoutBlockedUnits } from '../../../../src/sync/apply/identity/blocked-units.ts';
import { planTarget, type TargetPlan } from '../../../../src/sync/apply/plan.ts';
import type { PrunePlan } from '../../../../src/sync/apply/prune/plan.ts';
import { withUnitOrder } from '../../../../src/sync/apply/unit-order/waiting.ts';
import { dependsOn } from '../../unit-order/fixtures.ts';
import { type ApplyScenario, applyInput, configMap, entry, live, terminating, unit } from '../fixtures.ts';
import { planOf } from './fixtures.ts';

const [SAME, GONE, ENDS, HELD] = ['same', 'gone', 'ends', 'held'].map((name) => configMap(name));
const BLOCKED = new Map([['web', { reason: 'IdentityDenied', because: 'it may not' } as const]]);

function ordered(scenario: ApplyScenario, denied: string): TargetPlan {
  const input = applyInput({ ...scenario, more: { budget: { maxObjects: 100, maxPercent: 100 } } });
  const observed = { observe: input.live, unknownReason: () => undefined, staleReason: undefined };
  const plan = withUnitOrder(planTarget(input), { ...input, observed });
  const blocked = { reason: 'IdentityDenied', because: 'it may not. Run: kubectl' } as const;
  return withoutBlockedUnits(plan, new Map([[denied, blocked]]), input.inventory);
}

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

  it.each<[action: PrunePlan['action'], expected: PrunePlan['action']]>([
    ['mark', 'wait'],
    ['delete', 'wait'],
    ['release', 'wait'],
    ['confirm', 'confirm'],
    ['keep', 'keep'],
    ['held', 'held'],
    ['paused', 'paused'],
    ['after', 'after'],
  ])('S29 keeps from an object that git removed only what changes it: %s', (action, expected) => {
    const removal = { action, entry: entry(configMap('gone')), because: 'removed from git' };
    const plan = { objects: [], prune: [removal], holds: [] };
    const [found] = withoutBlockedUnits(plan, BLOCKED, { entries: new Map() }).prune;
    expect(found?.action).toBe(expected);
  });

  const DB = configMap('db');
  const WEB = dependsOn(configMap('web'), 'db');
  it('S29, S13 tells the units that depend on the unit why it is not written', () => {
    const git = [unit('db', [DB]), unit('web', [WEB]), unit('other', [configMap('other')])];
    const { objects, waitingUnits } = ordered({ git }, 'db');
    const because = 'unit web waits for unit db: it may not. Run: kubectl';
    expect(waitingUnits).toMatchObject([{ unit: 'web', because }]);
    expect(Object.fromEntries(objects.map((each) => [each.unit, [each.action, each.because]]))).toEqual({
      db: ['wait', 'it may not. Run: kubectl'],
      web: ['wait', because],
      other: ['create', 'new in git'],
    });
  });

  it.each([
    ['keeps what the unit depends on', 'web', { web: 'wait', db: 'after' }],
    ['deletes first what depends on the unit', 'db', { web: 'delete', db: 'after' }],
  ])('S29, S13 judges each object that git removed: %s', (_, denied, expected) => {
    const git = [unit('db', [configMap('db-2')]), unit('web', [configMap('web-2')])];
    const inventory = [entry(DB, { unit: 'db' }), entry(WEB, { unit: 'web' })];
    const cluster = [live(DB, { unit: 'db' }), live(WEB, { unit: 'web' })];
    const { prune } = ordered({ git, inventory, cluster }, denied);
    expect(Object.fromEntries(prune.map(({ entry: { name }, action }) => [name, action]))).toEqual(expected);
  });
});
