import { expect, it } from 'vitest';
import {
  attentionItems,
  countWaits,
  repairNeedsAttention,
  rolloutNeedsAttention,
} from '../../../src/console/state/attention.ts';
import { PICTURE_STATE } from '../../cluster/console/picture-state.ts';

it.each<[state: string, failed: number, isFirst: boolean, isBehind?: true]>([
  ['NeedsPerson', 0, true],
  ['Failed', 0, true],
  ['Running', 1, true],
  ['Running', 0, false],
  ['Completed', 0, false],
  ['Completed', 1, false],
  ['Completed', 0, false, true],
  ['Completed', 1, true, true],
])('a rollout that is %s with %i failed machines is shown first: %s', (state, failed, isFirst, isBehind) => {
  expect(rolloutNeedsAttention({ state, failed, ...(isBehind && { isBehind }) })).toBe(isFirst);
});

it.each([
  ['NeedsPerson', true],
  ['Running', false],
  ['Failed', false],
  ['Ended', false],
  ['Succeeded', false],
])('a repair that is %s is shown first: %s', (state, isFirst) => {
  expect(repairNeedsAttention({ state })).toBe(isFirst);
});

it('lists what waits for a person, the newest first, then the notes without the incidents', () => {
  const { rollouts, repairs } = PICTURE_STATE;
  const [rollout, repair] = [Object.values(rollouts)[0], Object.values(repairs)[0]];
  const note = { text: 'WipeDisk waits for a person', bad: true };
  if (!rollout || !repair) throw new Error('the picture has a rollout and a repair');
  const why = {
    reason: 'ApprovalRequired',
    because: 'rung restart needs one',
    unblock: 'kubenode repair approve',
  };
  const items = attentionItems({
    rollouts: {
      a: { ...rollout, state: 'NeedsPerson' },
      b: { ...rollout, failed: 1, since: '2026-03-02T09:59:00Z' },
      c: rollout,
    },
    repairs: { a: { ...repair, state: 'NeedsPerson', why }, b: repair },
    notes: {
      a: note,
      b: { text: 'a breaker is open', bad: true, isIncident: true },
      c: { text: 'closed', bad: false },
    },
  });
  expect(items.map(({ key, because, unblock, address }) => [key, because, unblock, address])).toEqual([
    ['rollout b', 'machines are in work; 1 failed', '', '#/rollouts'],
    [
      'repair a',
      'ApprovalRequired: rung restart needs one',
      'kubenode repair approve',
      '#/machines/prod/prod-b-08',
    ],
    ['rollout a', 'machines are in work', '', '#/rollouts'],
    [`note ${note.text}`, note.text, '', undefined],
  ]);
});

it('counts an incident among what waits for a person, and not what is good to know', () => {
  const notes = {
    a: { text: 'WipeDisk waits for a person', bad: true },
    b: { text: 'a breaker is open', bad: true, isIncident: true },
    c: { text: 'closed', bad: false },
  } as const;
  expect(countWaits({ rollouts: {}, repairs: {}, notes })).toBe(2);
  expect(countWaits({ rollouts: {}, repairs: {}, notes: { b: notes.b } })).toBe(1);
  expect(countWaits({ rollouts: {}, repairs: {}, notes: { c: notes.c } })).toBe(0);
});
