import { describe, expect, it } from 'vitest';
import type { RolloutFailure } from '../../../../../src/api/generated/types.ts';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import {
  beginRollback,
  planRollback,
} from '../../../../../src/controllers/componentset/rollout/failure/rollback.ts';
import { NOW } from '../../../../support/builders.ts';
import {
  COMPLETED,
  grant,
  inputOf,
  member,
  NEW,
  OLD,
  progressOf,
  type StateParts,
} from '../rollout-input.ts';
import { asking, refOf } from '../upkeep/reporting-member.ts';

const at = (name: string, batch: number, parts: StateParts = {}): ReturnType<typeof member> =>
  member(name, { at: NEW, batch, ...parts });
const MEMBERS = [
  at('a', 0),
  at('b', 1, { step: 'Failed', holdsGrant: true }),
  at('c', 1),
  at('d', 0, { step: 'Failed' }),
  member('e'),
];
/** A check of batch 1 has failed, and no machine. */
function backFromGate(onFailure: RolloutFailure['onFailure']): string {
  const members = [at('a', 0), at('b', 1), at('c', 1), member('e')];
  const gate = { state: 'Failed', check: 'errors', because: 'check errors: 7 is above 1' } as const;
  const input = inputOf({ members, gate, rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure } } });
  const { actions } = planRollback(input, input.progress, { stable: OLD, availability: AVAILABLE });
  return actions.map((action) => ('member' in action ? action.member.name : '')).join(' ');
}

const AVAILABLE = { slots: 5, reason: 'TooManyUnavailable', because: '' };

function back(onFailure: RolloutFailure['onFailure'], members = MEMBERS, slots = 5): string {
  const input = inputOf({ members, rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure } } });
  const { actions } = planRollback(input, progressOf(), {
    stable: OLD,
    availability: { ...AVAILABLE, slots },
  });
  return actions.map((action) => ('member' in action ? action.member.name : '')).join(' ');
}

describe('planRollback', () => {
  it.each<[policy: RolloutFailure['onFailure'], expected: string]>([
    ['RollbackFailed', 'b d'],
    ['RollbackBatch', 'b c d'],
    ['RollbackAll', 'b c a d'],
    ['Pause', ''],
  ])('ROL-32 takes the machines of the policy back, the last batch first: %s', (policy, expected) => {
    expect(back(policy)).toBe(expected);
  });

  it.each<[policy: RolloutFailure['onFailure'], expected: string]>([
    ['RollbackFailed', 'b c'],
    ['RollbackBatch', 'b c'],
    ['RollbackAll', 'b c a'],
    ['Pause', ''],
  ])('ROL-22 blames the whole batch for a check that failed: %s', (policy, expected) => {
    expect(backFromGate(policy)).toBe(expected);
  });

  it('ROL-32 is limited by maxUnavailable for machines that serve', () => {
    expect(back('RollbackAll', MEMBERS, 1)).toBe('b c d');
    expect(back('RollbackAll', MEMBERS, 0)).toBe('b d');
  });

  it('names the limit when it lets no machine go back, and none is on its way', () => {
    const because = 'machines unavailable: 2, allowed: 2';
    const blocker = { kind: 'Machine', name: 'x' };
    const context = { stable: OLD, availability: { ...AVAILABLE, slots: 0, because, blocker } };
    const rollout = { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackAll' } } as const;
    const limitOf = (...others: readonly MemberState[]): object =>
      planRollback(inputOf({ members: [at('a', 0), ...others], rollout }), progressOf(), context).limit;
    expect(limitOf()).toEqual({
      slots: 0,
      reason: 'TooManyUnavailable',
      because: `back to app 1: 1 to go, 0 in work; ${because}`,
      blocker,
    });
    expect(limitOf(at('d', 0, { step: 'Failed', serves: false }))).toMatchObject({ reason: 'RollingBack' });
    expect(limitOf(member('e', { step: 'InWork' }))).toMatchObject({ reason: 'RollingBack' });
  });

  it.each<[what: string, parts: StateParts, reason: string]>([
    [
      'an act of another set',
      { grant: grant({ holder: { kind: 'MachineComponentSet', name: 'x' } }) },
      'MachineBusy',
    ],
    ['its agent', { isSilent: true, step: 'Failed' }, 'AgentSilent'],
    ['a person', { hold: { reason: 'x', scope: 'All' } }, 'Held'],
  ])('ROL-61 names what the last machine of a rollback waits for: %s', (_what, parts, reason) => {
    const rollout = { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackAll' } } as const;
    const limitOf = (...others: readonly MemberState[]): object =>
      planRollback(inputOf({ members: [at('a', 0, parts), ...others], rollout }), progressOf(), {
        stable: OLD,
        availability: AVAILABLE,
      }).limit;
    const because = expect.stringMatching(/^back to app 1: 1 to go, 0 in work; a: /) as string;
    expect(limitOf()).toMatchObject({ reason, because });
    expect(limitOf(member('e', { step: 'InWork' }))).toMatchObject({ reason: 'RollingBack' });
  });

  it('ROL-31 does not take back a machine whose agent is silent', () => {
    expect(back('RollbackAll', [at('a', 1, { isSilent: true, step: 'Failed' })])).toBe('');
  });

  it('ROL-32 uses the grant of the update while there is one, and asks for a recovery otherwise', () => {
    const input = inputOf({ members: MEMBERS });
    const { actions } = planRollback(input, progressOf(), { stable: OLD, availability: AVAILABLE });
    expect(actions.map((action) => ('permission' in action ? action.permission : {}))).toEqual([
      { by: 'Renew', class: 'Restart', recovery: true },
      { by: 'Ask', class: 'Restart', recovery: true },
      { by: 'Ask', class: 'Restart', recovery: true },
    ]);
  });

  it('ROL-32 ends when the last machine is back, and not before', () => {
    const bad = { revision: NEW.name, result: 'RolledBack' } as const;
    const progress = progressOf({ history: [bad, COMPLETED] });
    const context = { stable: OLD, availability: AVAILABLE };
    const open = inputOf({ members: [member('e', { step: 'InWork' })] });
    expect(planRollback(open, progress, context).progress).toBe(progress);
    const ended = planRollback(inputOf({ members: [member('e')] }), progress, context);
    expect(ended.progress.history).toEqual([{ ...bad, finishedAt: NOW.toISOString() }, COMPLETED]);
  });

  it.each<[what: string, parts: StateParts, ended: boolean, because: string]>([
    ['a machine in work', { step: 'InWork', holdsGrant: true }, false, `back to app 1: 0 to go, 1 in work`],
    [
      'one whose agent became silent on its way',
      { step: 'Unknown', reason: 'AgentSilent', isSilent: true, holdsGrant: true },
      false,
      `back to app 1: 0 to go, 1 in work`,
    ],
    [
      'one that takes too long',
      { step: 'Failed', reason: 'TimedOut', because: 'not settled', holdsGrant: true },
      false,
      `back to app 1: 0 to go, 1 in work; machines that failed at app 1: 1. e: not settled`,
    ],
    [
      'one whose agent gave up, with its grant',
      { step: 'Failed', reason: 'RolledBack', because: 'app: no answer', holdsGrant: true },
      false,
      `back to app 1: 0 to go, 1 in work; machines that failed at app 1: 1. e: app: no answer`,
    ],
    [
      'one whose agent gave up, when its grant is settled',
      { step: 'Failed', reason: 'RolledBack', because: 'app: no answer' },
      true,
      `app 2 was rolled back; machines that failed at app 1: 1. e: app: no answer`,
    ],
    [
      'one that is silent and was never touched',
      { step: 'Unknown', reason: 'AgentSilent', isSilent: true },
      true,
      `app 2 was rolled back`,
    ],
    ['one that is back', {}, true, `app 2 was rolled back`],
  ])('ROL-32 ends, and reports what failed: %s', (_what, parts, ended, because) => {
    const progress = progressOf({ history: [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] });
    const input = inputOf({ members: [member('e', parts)] });
    const step = planRollback(input, progress, { stable: OLD, availability: AVAILABLE });
    expect(step.progress.history[0]?.finishedAt).toBe(ended ? NOW.toISOString() : undefined);
    expect(step.limit.because).toBe(because);
  });

  it.each<[what: string, member: MemberState, ended: boolean]>([
    ['the rest of its return', asking(OLD, refOf(NEW)), false],
    ['it while a person holds it', { ...asking(OLD, refOf(NEW)), hold: { scope: 'All', reason: 'x' } }, true],
    ['a restart of what is in force', asking(OLD, refOf(OLD)), true],
  ])(
    'ROL-32 waits for a machine whose drain was given up, and whose agent asks for %s',
    (_what, each, ended) => {
      const progress = progressOf({ history: [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] });
      const step = planRollback(inputOf({ members: [each] }), progress, {
        stable: OLD,
        availability: AVAILABLE,
      });
      expect(step.progress.history[0]?.finishedAt !== undefined).toBe(ended);
    },
  );
});

describe('goesBack', () => {
  const ended = { revision: NEW.name, result: 'RolledBack', finishedAt: NOW.toISOString() } as const;

  it.each<[what: string, member: MemberState, onFailure: RolloutFailure['onFailure'], back: string]>([
    ['failed', at('a', 0, { step: 'Failed' }), 'RollbackBatch', 'a'],
    ['is of the failed batch', at('a', 1), 'RollbackBatch', 'a'],
    ['is of a batch that was proven', at('a', 0), 'RollbackBatch', ''],
    ['is of a batch that was proven, where all go back', at('a', 0), 'RollbackAll', 'a'],
    ['waits for a person', at('a', 1, { step: 'Failed' }), 'Pause', ''],
    ['never had it', member('a'), 'RollbackAll', ''],
  ])('ROL-40 takes a machine back that returns to the set after the rollback: it %s', (...row) => {
    const [, each, onFailure, expected] = row;
    const progress = progressOf({ history: [ended, COMPLETED] });
    const rollout = { failure: { maxFailed: 0, per: 'Rollout', onFailure } } as const;
    const plan = planRollout(inputOf({ members: [each], progress, rollout }));
    const returned = plan.actions.flatMap((action) =>
      action.type === 'Assign' && action.revision === OLD && action.permission.recovery
        ? [action.member.name]
        : [],
    );
    expect(returned.join()).toBe(expected);
    expect(plan.progress.history).toEqual([ended, COMPLETED]);
  });
});

const BAD = { bad: NEW, failure: { reason: 'GateFailed', because: 'errors: 5' } };

describe('beginRollback', () => {
  it('ROL-32 remembers the bad revision with its retry token before the first machine goes back', () => {
    const [record] = beginRollback(inputOf({ retryToken: 'a' }), progressOf({ commit: 'c-1' }), BAD).history;
    expect(record).toMatchObject({ revision: NEW.name, result: 'RolledBack', retryToken: 'a' });
    expect(record).toMatchObject({ commit: 'c-1', reason: 'GateFailed', message: 'errors: 5' });
    expect(record).not.toHaveProperty('finishedAt');
    expect(beginRollback(inputOf(), progressOf(), BAD).history[0]).not.toHaveProperty('retryToken');
  });
});
