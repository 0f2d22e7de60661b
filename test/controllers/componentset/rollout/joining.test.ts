import { describe, expect, it } from 'vitest';
import type { RolloutMode, RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';
import { planJoining } from '../../../../src/controllers/componentset/rollout/joining.ts';
import { type InputParts, inputOf, member, NEW, OLD, progressOf } from './rollout-input.ts';

const VERSIONS = new Map([
  [OLD.name, 'old'],
  [NEW.name, 'new'],
]);
const NEWCOMER = member('m', { at: 'None', isEstablished: false, serves: false });

function joined(
  mode: RolloutMode,
  parts: InputParts = {},
  available = 5,
  progress: Partial<RolloutProgress> = {},
): string {
  const input = inputOf({ members: [NEWCOMER], ...parts });
  const { actions } = planJoining(input, { progress: { ...progressOf(), ...progress }, mode, available });
  return actions
    .map((action) =>
      action.type === 'Assign' ? `${VERSIONS.get(action.revision.name)} ${action.batch ?? '-'}` : '',
    )
    .join();
}

describe('planJoining', () => {
  it.each<[mode: RolloutMode, expected: string]>([
    ['Forward', 'old -'],
    ['RollingBack', 'old -'],
    ['Refused', 'old -'],
    ['Blocked', 'old -'],
    ['Revert', 'new -'],
    ['Steady', 'new -'],
  ])('ROL-40 gives a new machine a proven revision: %s', (mode, expected) => {
    expect(joined(mode)).toBe(expected);
  });

  it('ROL-40 gives a new machine the target where the set permits it, but never a bad one', () => {
    const rollout = { newMachinePolicy: 'Target' } as const;
    expect(joined('Forward', { rollout })).toBe('new -');
    expect(joined('RollingBack', { rollout })).toBe('old -');
    const stopped = { reason: 'FailureBudgetSpent', because: 'machines failed: 1, allowed: 0' };
    expect(joined('Forward', { rollout }, 5, { stopped })).toBe('old -');
  });

  it('ROL-40 leaves a new machine to the batches while nothing is proven', () => {
    const { stable: _stable, ...input } = inputOf({ members: [NEWCOMER] });
    expect(planJoining(input, { progress: progressOf(), mode: 'Forward', available: 5 })).toMatchObject({
      actions: [],
      names: new Set(),
    });
  });

  it('updates a machine that was away when everything completed', () => {
    expect(joined('Steady', { members: [member('m')] })).toBe('new -');
    expect(joined('Steady', { members: [member('m', { at: NEW })] })).toBe('');
    expect(joined('Forward', { members: [member('m')] })).toBe('');
  });

  it('ROL-30 tries no machine again after the failure budget was spent', () => {
    const members = [member('m', { at: NEW, batch: 1, step: 'Retriable' })];
    expect(joined('Forward', { members })).toBe('new 1');
    const stopped = { reason: 'FailureBudgetSpent', because: 'machines failed: 1, allowed: 0' };
    expect(joined('Forward', { members }, 5, { stopped })).toBe('');
    expect(joined('Steady', { members }, 5, { stopped })).toBe('new 1');
  });

  it('ROL-06 assigns again what a plain kubectl apply took from a machine, in the open batch', () => {
    const stripped = member('m', { at: NEW, step: 'Unassigned' });
    expect(joined('Forward', { members: [stripped] })).toBe('new 1');
  });

  it('ROL-11 costs availability where the machine serves', () => {
    expect(joined('Forward', {}, 0)).toBe('old -');
    expect(joined('Forward', { members: [member('m', { at: 'None', serves: true })] }, 0)).toBe('');
  });

  it('waits like any other machine, and is left to no batch meanwhile', () => {
    const silent = member('m', { at: 'None', isSilent: true });
    const found = planJoining(inputOf({ members: [silent] }), {
      progress: progressOf(),
      mode: 'Forward',
      available: 5,
    });
    expect(found).toMatchObject({ actions: [], names: new Set(['m']) });
  });
});
