import { describe, expect, it } from 'vitest';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import type { RolloutAction } from '../../../../src/controllers/componentset/rollout/input.ts';
import { planRestarts, planUpkeep } from '../../../../src/controllers/componentset/rollout/upkeep.ts';
import { ago } from '../../../support/builders.ts';
import { grant, inputOf, member, NEW, progressOf, type StateParts } from './rollout-input.ts';

const HOLDS: StateParts = { grant: grant(), holdsGrant: true, grantEndsAt: new Date(ago(-240)) };
const NONE: ReadonlySet<string> = new Set();

function actionOf(parts: StateParts, { paused = false, changing = NONE, left = false } = {}): string {
  const each = member('m', parts);
  const input = inputOf({ paused, members: left ? [] : [each], left: left ? [each] : [] });
  return planUpkeep(input, changing)
    .map((action) => {
      if (action.do === 'Settle') return `Settle ${action.outcome}`;
      return action.do === 'Permit' ? `Permit ${action.permission.by} ${action.permission.class}` : action.do;
    })
    .join();
}

describe('planUpkeep', () => {
  it.each<[what: string, parts: StateParts, expected: string]>([
    ['settled', HOLDS, 'Settle Succeeded'],
    ['settled without a grant', {}, ''],
    [
      'settled, with a grant for another revision that is in no entry',
      { grant: grant({ holder: { ...grant().holder, revision: 'r-bad' } }), holdsGrant: true },
      'Settle Ambiguous',
    ],
    [
      'settled after it went back with the grant of its update',
      { ...HOLDS, grant: grant({ holder: { ...grant().holder, revision: 'r-bad' } }) },
      'Settle Succeeded',
    ],
    ['unhealthy as before', { ...HOLDS, step: 'UnhealthyBefore' }, 'Settle Ambiguous'],
    ['given up', { ...HOLDS, step: 'Failed', reason: 'RolledBack' }, 'Settle Failed'],
    ['given up on a Node that is not Ready', { ...HOLDS, step: 'Failed', readiness: 'NotReady' }, ''],
    [
      'given up where no Node has served',
      { ...HOLDS, step: 'Failed', readiness: 'NotReady', isEstablished: false },
      'Settle Failed',
    ],
    ['too long in work', { ...HOLDS, step: 'Failed', reason: 'TimedOut' }, ''],
    ['silent for too long', { ...HOLDS, step: 'Failed', reason: 'AgentSilent' }, ''],
    ['in work', { ...HOLDS, step: 'InWork' }, ''],
    [
      'in work, with a grant that ends soon',
      { ...HOLDS, step: 'InWork', grantEndsAt: new Date(ago(-150)) },
      'Permit Renew None',
    ],
    [
      'in work, with a grant that is in the ledger only',
      { grant: grant(), holdsGrant: true, step: 'InWork' },
      'Permit Renew None',
    ],
    [
      'in work, with a grant that was taken out of entries that its agent has not acted on yet',
      { grant: grant(), holdsGrant: true, step: 'InWork', reason: 'NotObserved' },
      '',
    ],
    [
      'the same, when the grant ends soon',
      { grant: grant({ notAfter: ago(-150) }), holdsGrant: true, step: 'InWork', reason: 'NotObserved' },
      'Permit Renew None',
    ],
    ['silent', { ...HOLDS, step: 'Unknown', grantEndsAt: new Date(ago(10)) }, ''],
  ])('ROL-10 settles and renews grants: %s', (_what, parts, expected) => {
    expect(actionOf(parts)).toBe(expected);
  });

  it('ROL-34 keeps grants while the set is paused, and asks for none', () => {
    expect(actionOf(HOLDS, { paused: true })).toBe('Settle Succeeded');
  });

  it('ROL-10 settles the grant of an update that takes too long once its revision completed without the machine', () => {
    const late = member('m', { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    const completed = progressOf({ history: [{ revision: NEW.name, result: 'Completed' }] });
    const outcomes = [progressOf(), completed].map((progress) =>
      planUpkeep(inputOf({ members: [late], progress }), NONE).map((action) => action.do),
    );
    expect(outcomes).toEqual([[], ['Settle']]);
  });

  it('ROL-40 settles the grant of a machine that left', () => {
    expect(actionOf(HOLDS, { left: true })).toBe('Settle Succeeded');
  });

  it('leaves the grant of a machine that gets other entries now', () => {
    expect(actionOf(HOLDS, { changing: new Set(['m']) })).toBe('');
  });

  it('ROL-10 settles the grant of a machine that was deleted', () => {
    const input = inputOf({ deleted: [{ machine: 'm', grant: grant() }] });
    expect(planUpkeep(input, NONE)).toEqual([
      { do: 'Release', machine: 'm', grant: grant(), outcome: 'Ambiguous', because: 'Machine m was deleted' },
    ]);
  });
});

const ASKS: StateParts = { step: 'NeedsGrant', serves: true };

function namesOf(actions: readonly RolloutAction[]): string {
  return actions
    .flatMap((action) =>
      action.do === 'Permit' && action.permission.by === 'Ask' ? [action.member.name] : [],
    )
    .join(' ');
}

describe('planRestarts', () => {
  it.each<[what: string, parts: StateParts, restarted: string]>([
    ['that asks', ASKS, 'm'],
    ['that is settled', {}, ''],
    ['that a person holds', { ...ASKS, hold: { scope: 'Disruptive', reason: 'looks at it' } }, ''],
    ['in work under another grant', { ...ASKS, grant: grant() }, ''],
  ])('permits the restart of a machine %s: %s', (_what, parts, restarted) => {
    expect(namesOf(planRestarts([member('m', parts)], NONE, 1))).toBe(restarted);
  });

  it('leaves a machine that gets other entries now', () => {
    expect(planRestarts([member('m', ASKS)], new Set(['m']), 1)).toEqual([]);
  });

  it('ROL-11 restarts no more machines at once than may be out of service', () => {
    const members = ['a', 'b', 'c', 'd'].map((name) => member(name, ASKS));
    expect(namesOf(planRestarts(members, NONE, 2))).toBe('a b');
    expect(namesOf(planRestarts(members, NONE, 0))).toBe('');
    const plan = planRollout(inputOf({ members, rollout: { maxUnavailable: 3 } }));
    const changed = plan.actions.filter((action) => action.do === 'Assign' || action.do === 'Permit');
    expect(changed.length).toBe(3);
  });

  it('ROL-34 permits no restart while the set is paused', () => {
    const input = inputOf({ paused: true, members: [member('m', ASKS)] });
    expect(namesOf(planRollout(input).actions)).toBe('');
  });
});
