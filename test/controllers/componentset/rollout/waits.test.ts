import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import { explainWaits } from '../../../../src/controllers/componentset/rollout/waits.ts';
import { grant, type InputParts, inputOf, member, NEW, type StateParts } from './rollout-input.ts';
import { asking, refOf } from './upkeep/reporting-member.ts';

const LIMIT = { slots: 0, reason: 'Paused', because: 'spec.paused is true' };
const BUSY = grant({ holder: { kind: 'RemedyOperationJob', name: 'job-1' } });

function reasonOf(parts: StateParts, more: InputParts = {}): string | undefined {
  return explainWaits(inputOf({ members: [member('m', parts)], ...more }), [], LIMIT).get('m')?.reason;
}

describe('explainWaits', () => {
  it.each<[reason: string | undefined, parts: StateParts]>([
    ['Paused', {}],
    ['Paused', { at: 'None' }],
    ['Held', { hold: { reason: 'x', scope: 'All' } }],
    ['Pinned', { pinned: ['app'] }],
    ['AgentSilent', { isSilent: true }],
    ['MachineBusy', { grant: BUSY }],
    ['DrainPending', { at: NEW, step: 'InWork', reason: 'DrainPending' }],
    ['RolledBack', { at: NEW, step: 'Failed', reason: 'RolledBack' }],
    ['Probation', { step: 'InWork', reason: 'Probation', holdsGrant: true }],
    [undefined, { at: NEW }],
  ])(
    'ROL-61 has exactly one reason for a machine that is not settled at its revision: %s',
    (reason, parts) => {
      expect(reasonOf(parts)).toBe(reason);
    },
  );

  it.each<[what: string, each: MemberState, reason: string, expected: string]>([
    ['a restart of what is in force, in a set that is paused', asking(NEW, refOf(NEW)), 'Paused', 'Paused'],
    ['the same, in a dry run', asking(NEW, refOf(NEW)), 'DryRun', 'DryRun'],
    ['the same, in a rollout that has stopped', asking(NEW, refOf(NEW)), 'FailureBudgetSpent', 'GrantNeeded'],
    [
      'the rest of an update that has stopped',
      asking(NEW, 'app-0'),
      'FailureBudgetSpent',
      'FailureBudgetSpent',
    ],
    ['the rest of an update, while others are in work', asking(NEW, 'app-0'), 'BatchFull', 'GrantNeeded'],
  ])('ROL-61 names what the grant waits for: %s', (_what, each, reason, expected) => {
    const limit = { slots: 0, reason, because: 'the cause of the set' };
    const found = explainWaits(inputOf({ members: [{ ...each, because: 'needs a grant' }] }), [], limit);
    const isOwn = expected === 'GrantNeeded';
    const because = isOwn ? 'm: needs a grant' : 'm: needs a grant; the cause of the set';
    expect(found.get('m')).toMatchObject({ reason: expected, because });
  });

  it('ROL-61 gives the problem of a revision that cannot be resolved', () => {
    expect(reasonOf({}, { desired: { problems: [LIMIT] } })).toBe('Paused');
  });

  it('has none for a machine that is given its entries now', () => {
    const each = member('m');
    const permission = { by: 'Ask', class: 'None', recovery: false } as const;
    const action = { type: 'Assign', member: each, revision: NEW, permission, because: '' } as const;
    expect(explainWaits(inputOf({ members: [each] }), [action], LIMIT).size).toBe(0);
  });
});
