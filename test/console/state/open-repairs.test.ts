import { expect, it } from 'vitest';
import { isOpenRepair, machinesInRepair, openRepairs } from '../../../src/console/state/open-repairs.ts';
import { PICTURE_STATE } from '../../cluster/console/picture-state.ts';

it.each([
  ['Running', true],
  ['NeedsPerson', true],
  ['Failed', false],
  ['Ended', false],
  ['Succeeded', false],
])('a repair that is %s is open: %s', (state, isOpen) => {
  expect(isOpenRepair({ state })).toBe(isOpen);
});

it('has each machine with an open repair once', () => {
  const [repair] = Object.values(PICTURE_STATE.repairs);
  if (!repair) throw new Error('the picture has a repair');
  const repairs = {
    a: repair,
    b: { ...repair, state: 'NeedsPerson' },
    c: { ...repair, machine: 'm-2', state: 'Succeeded' },
  };
  expect(openRepairs(repairs).map(({ state }) => state)).toEqual(['Running', 'NeedsPerson']);
  expect([...machinesInRepair(repairs)]).toEqual(['prod/prod-b-08']);
});
