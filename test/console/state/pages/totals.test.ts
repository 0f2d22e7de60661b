import { describe, expect, it } from 'vitest';
import { groupFleet } from '../../../../src/console/state/fleet.ts';
import { pointOf } from '../../../../src/console/state/history/points.ts';
import { fleetTotals, phaseTotals } from '../../../../src/console/state/pages/totals.ts';
import { PICTURE_STATE } from '../../../cluster/console/picture-state.ts';
import { clusterLine, stateOf } from '../../fixtures.ts';

describe('fleetTotals', () => {
  it('counts the machines that are Ready and that change, and the open repairs', () => {
    expect(fleetTotals(groupFleet(PICTURE_STATE), PICTURE_STATE.repairs)).toEqual({
      ready: 18,
      total: 23,
      changing: 2,
      repairs: 1,
    });
  });

  it('takes the numbers of the hub for a cluster whose machines are not shown', () => {
    const clusters = {
      a: clusterLine('a', { machines: { total: 10, ready: 9 } }),
      b: clusterLine('b'),
      c: clusterLine('c', { machines: { total: 5, ready: 5 } }),
    };
    const state = stateOf({ 'c/m-1': 'Ready', 'c/m-2': 'Stalled' }, { clusters });
    expect(fleetTotals(groupFleet(state), {})).toMatchObject({ ready: 10, total: 12 });
  });

  it.each([
    ['Ready', 'Running', 1],
    ['Ready', 'Succeeded', 0],
    ['Updating', 'Ended', 1],
    ['Updating', 'Running', 0],
    ['NotReady', 'Running', 0],
  ])(
    'counts a machine that is %s with a repair that is %s as its tile shows it',
    (phase, state, changing) => {
      const [repair] = Object.values(PICTURE_STATE.repairs);
      const repairs = repair ? { a: { ...repair, cluster: 'a', machine: 'm-1', state } } : {};
      const fleet = stateOf(
        { 'a/m-1': phase, 'a/m-2': 'Ready' },
        { clusters: { a: clusterLine('a') }, repairs },
      );
      expect(fleetTotals(groupFleet(fleet), repairs).changing).toBe(changing);
      expect(pointOf(fleet).changing).toBe(changing);
    },
  );

  it('does not count repairs that have ended', () => {
    const [repair] = Object.values(PICTURE_STATE.repairs);
    const repairs = Object.fromEntries(
      ['Running', 'NeedsPerson', 'Failed', 'Ended', 'Succeeded'].flatMap((state) =>
        repair ? [[state, { ...repair, state }]] : [],
      ),
    );
    expect(fleetTotals(groupFleet(PICTURE_STATE), repairs).repairs).toBe(2);
  });
});

it('sums the phases of several groups, the most frequent first', () => {
  const groups = [
    { counts: [['Held', 3]] },
    {
      counts: [
        ['Ready', 2],
        ['Held', 1],
      ],
    },
    { counts: [['Ready', 5]] },
  ] as const;
  expect(phaseTotals(groups)).toEqual([
    ['Ready', 7],
    ['Held', 4],
  ]);
});
