import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import type { RolloutAction } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { planRestarts } from '../../../../../src/controllers/componentset/rollout/upkeep/restarts.ts';
import type { Limit } from '../../../../../src/rollout/limit.ts';
import {
  BATCH,
  COMPLETED,
  grant,
  type InputParts,
  inputOf,
  member,
  NEW,
  OLD,
  progressOf,
  type StateParts,
} from '../rollout-input.ts';
import { asking, refOf, reporting } from './reporting-member.ts';

const ASKS: StateParts = { step: 'NeedsGrant', serves: true };
const ONE = { changing: new Set<string>(), available: 1 };
const FIVE = { ...ONE, available: 5 };
const ONE_OPEN = progressOf({ batch: { ...BATCH, size: 1 } });
const STOPPED = progressOf({ stopped: { reason: 'FailureBudgetSpent', because: 'machines failed: 1' } });

function restarts(
  members: readonly MemberState[],
  slots: Parameters<typeof planRestarts>[1],
  parts: InputParts = {},
): readonly RolloutAction[] {
  return planRestarts(inputOf({ ...parts, members }), slots).actions;
}

/** From NEW back to OLD: because git asks for it again, and because NEW failed. */
const REVERTS: InputParts = {
  progress: progressOf({
    updateRevision: OLD.name,
    history: [{ revision: NEW.name, result: 'Completed' }, COMPLETED],
  }),
  desired: { revision: OLD, yanked: [] },
};
const ROLLS_BACK: InputParts = {
  progress: progressOf({ history: [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] }),
};

function namesOf(actions: readonly RolloutAction[]): string {
  return actions
    .flatMap((action) =>
      action.type === 'Permit' && action.permission.by === 'Ask' ? [action.member.name] : [],
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
    expect(namesOf(restarts([member('m', parts)], ONE))).toBe(restarted);
  });

  it('leaves a machine that gets other entries now', () => {
    expect(restarts([member('m', ASKS)], { changing: new Set(['m']), available: 1 })).toEqual([]);
  });

  it('ROL-11 restarts no more machines at once than may be out of service', () => {
    const members = ['a', 'b', 'c', 'd'].map((name) => member(name, ASKS));
    expect(namesOf(restarts(members, { ...ONE, available: 2 }))).toBe('a b');
    expect(namesOf(restarts(members, { ...ONE, available: 0 }))).toBe('');
    const plan = planRollout(inputOf({ members, rollout: { maxUnavailable: 3 } }));
    const changed = plan.actions.filter((action) => action.type === 'Assign' || action.type === 'Permit');
    expect(changed.length).toBe(3);
  });

  it('ROL-35 finishes no update of a revision that has stopped, and restarts other machines of the set', () => {
    const members = [{ ...asking(NEW, 'app-0'), name: 'bad' }, member('old', ASKS)];
    expect(namesOf(restarts(members, FIVE, { progress: STOPPED }))).toBe('old');
    expect(namesOf(restarts(members, FIVE))).toBe('bad old');
    expect(namesOf(planRollout(inputOf({ members, progress: STOPPED })).actions)).toBe('old');
  });

  it('ROL-35 restarts what is in force on a machine of a revision that has stopped', () => {
    const { unavailable: _, ...drifted } = asking(NEW, refOf(NEW));
    expect(namesOf(restarts([drifted], ONE, { progress: STOPPED }))).toBe('m');
    expect(namesOf(restarts([drifted], { ...ONE, available: 0 }, { progress: STOPPED }))).toBe('');
    const { limit, actions } = planRollout(inputOf({ members: [drifted], progress: STOPPED }));
    expect([limit.reason, namesOf(actions)]).toEqual(['FailureBudgetSpent', 'm']);
  });

  it.each<[what: string, expected: string, isProven: boolean, parts: InputParts]>([
    ['that is neither asked for nor proven', '', false, {}],
    ['that is proven', 'm', true, {}],
    ['that is asked for', 'm', false, { progress: progressOf({ updateRevision: OLD.name }) }],
  ])(
    'ROL-32 finishes what is left of an update to a revision %s: "%s"',
    (_what, expected, isProven, parts) => {
      const each = reporting('WaitingForGrant', { ...ASKS, at: OLD });
      const { stable, ...input } = inputOf({ ...parts, members: [each] });
      const { actions } = planRestarts(isProven && stable ? { ...input, stable } : input, ONE);
      expect(namesOf(actions)).toBe(expected);
    },
  );

  it('ROL-11 names the machines that are out of service when a restart waits for them', () => {
    const asks = member('a', { ...ASKS, at: NEW, batch: 1, because: 'waits for a grant' });
    const ill = member('ill', { step: 'Unhealthy', serves: false });
    const limitOf = (maxUnavailable: number): Limit =>
      planRollout(
        inputOf({ rollout: { maxUnavailable, batches: [1] }, members: [asks, ill], progress: ONE_OPEN }),
      ).limit;
    expect(limitOf(1)).toMatchObject({
      reason: 'TooManyUnavailable',
      because: 'a: waits for a grant; machines unavailable: 1, allowed: 1',
      blocker: { kind: 'Machine', name: 'ill' },
    });
    expect(limitOf(2).because).toBe('a: waits for a grant');
  });

  it('ROL-34 permits no restart while the set is paused', () => {
    const input = inputOf({ paused: true, members: [member('m', ASKS)] });
    expect(namesOf(planRollout(input).actions)).toBe('');
  });
});

describe('planRestarts of a drain that was given up', () => {
  it.each<[what: string, parts: InputParts, member: MemberState, expected: string]>([
    ['the rest of its update', {}, asking(NEW, 'app-0'), 'Drain'],
    ['a restart of what is in force', {}, asking(NEW, refOf(NEW)), 'Restart'],
    ['the rest of its return in a revert', REVERTS, asking(OLD, refOf(NEW)), 'Drain recovery'],
    ['a restart of what is in force in a revert', REVERTS, asking(OLD, refOf(OLD)), 'Restart'],
    ['the rest of its return in a rollback', ROLLS_BACK, asking(OLD, refOf(NEW)), 'Drain recovery'],
    ['the rest of an update that is to go back', ROLLS_BACK, asking(NEW, refOf(OLD)), 'Drain'],
  ])('ROL-50 ROL-33 asks for the class and the right of what its agent asks for: %s', (...row) => {
    const [, parts, each, expected] = row;
    const [action] = restarts([each], ONE, parts);
    const { permission } = action?.type === 'Permit' ? action : {};
    expect([permission?.class, permission?.recovery ? 'recovery' : ''].filter(Boolean).join(' ')).toBe(
      expected,
    );
  });
});
