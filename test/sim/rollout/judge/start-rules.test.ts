import { describe, expect, it } from 'vitest';
import type { RolloutEvent } from '../../../../src/sim/rollout/history.ts';
import { judgeHistory } from '../../../../src/sim/rollout/judge/judge.ts';
import { desired, FIRST_BATCH, FLEET, grant, host, machine, start } from './histories.ts';

type History = readonly (RolloutEvent | readonly RolloutEvent[])[];

function judge(history: History): readonly string[] {
  return judgeHistory(history.flat()).map(({ what }) => what);
}

const PAUSED = desired(1001, { paused: true });
const GAVE_UP = host(1060, 'm-1', 'GaveUp');
const NO_GRANT = 'an entry without a grant that is live';
const OVER = 'a start after the failure budget was spent';

describe('startViolations', () => {
  it.each<[name: string, history: History, found: readonly string[]]>([
    ['a start with a live grant', [start(1010, 'm-1')], []],
    ['no grant at all', [start(1010, 'm-1', { grant: 'other' })], [NO_GRANT]],
    [
      'a grant that is settled',
      [grant(1010, 'm-1', { isOpen: false }), start(1010, 'm-1').slice(1)],
      [NO_GRANT],
    ],
    ['a grant that ended', [grant(700, 'm-1'), start(1010, 'm-1').slice(1)], [NO_GRANT]],
    ['a permission without a live grant', [start(1010, 'm-1', { grant: 'x', kind: 'None' })], [NO_GRANT]],
    ['a pause', [PAUSED, start(1010, 'm-1')], ['a start while the set is paused']],
    ['a pause in the middle of a reconcile', [PAUSED, start(1002, 'm-1')], []],
    [
      'a restart under a pause',
      [PAUSED, start(1010, 'm-1', { kind: 'Restart' })],
      ['a start while the set is paused'],
    ],
    ['a permission under a pause', [PAUSED, start(1010, 'm-1', { kind: 'None' })], []],
    ['a pause that is over', [PAUSED, desired(1005), start(1010, 'm-1')], []],
    [
      'a set that was deleted',
      [desired(1001, { exists: false }), start(1010, 'm-1')],
      ['a start of a set that was deleted'],
    ],
    [
      'a machine that is not selected',
      [machine(1001, 'm-1', { sets: [] }), start(1010, 'm-1')],
      ['a start on a machine that the set does not select'],
    ],
    ['a machine that was just deselected', [machine(1009, 'm-1', { sets: [] }), start(1010, 'm-1')], []],
    [
      'a machine that was deleted',
      [machine(1001, 'm-1', { exists: false }), start(1010, 'm-1')],
      ['a start on a machine that the set does not select'],
    ],
    [
      'a machine that is held',
      [machine(1001, 'm-1', { isHeld: true }), start(1010, 'm-1')],
      ['a start on a machine that is held'],
    ],
    [
      'a revision that was never asked for',
      [start(1010, 'm-1', { revision: 'r-9' })],
      ['a start on r-9, which git does not ask for'],
    ],
    ['a rollback', [start(1010, 'm-1', { revision: 'r-1' })], []],
    [
      'a revision that git does not ask for any more',
      [desired(1001, { revision: 'r-3' }), start(1010, 'm-1')],
      ['a start on r-2, which git does not ask for'],
    ],
    ['an edit in the middle of a reconcile', [desired(1009, { revision: 'r-3' }), start(1010, 'm-1')], []],
  ])('judges %s', (_, history, found) => {
    expect(judge([FLEET, ...history])).toEqual(found);
  });

  it('starts a machine once in a rollout, and again after another retry token', () => {
    const again = start(1700, 'm-1', { batch: 1 });
    const token = desired(1600, { retryToken: 'again' });
    expect(judge([FIRST_BATCH, again])).toContain('a second start on r-2');
    expect(judge([FIRST_BATCH, token, again])).toEqual([]);
    expect(judge([FIRST_BATCH, start(1700, 'm-1', { kind: 'Restart' })])).toEqual([]);
  });

  it('goes back once, and again only from another revision', () => {
    const joined = [FLEET, start(1010, 'm-1', { revision: 'r-1', batch: undefined } as never)];
    const back = start(1500, 'm-1', { revision: 'r-1' });
    expect(judge([...joined, back])).toEqual(['a second start on r-1']);
    expect(judge([...joined, start(1100, 'm-1'), back])).toEqual([]);
  });

  it('starts nothing after the failure budget was spent, but what goes back', () => {
    const failed = [FLEET, start(1010, 'm-1'), GAVE_UP];
    expect(judge([...failed, start(1500, 'm-2')])).toEqual([OVER]);
    expect(judge([...failed, start(1500, 'm-2', { revision: 'r-1' })])).toEqual([]);
    // Not observed yet, within the budget, or of another rollout.
    expect(judge([...failed, start(1100, 'm-2')])).toEqual([]);
    expect(judge([...failed, desired(1070, { maxFailed: 1 }), start(1500, 'm-2')])).toEqual([]);
    expect(judge([...failed, desired(1400, { retryToken: 'again' }), start(1500, 'm-2')])).toEqual([]);
  });

  it('takes as many machines out of service as the set allows, and no more', () => {
    const two = [FLEET, start(1010, 'm-1'), start(1010, 'm-2')];
    const third = start(1011, 'm-3');
    const over = ['3 machines out of service, and 2 allowed'];
    expect(judge([...two, third])).toEqual(over);
    expect(judge([...two, desired(1011, { maxUnavailable: 3 }), third])).toEqual([]);
    expect(judge([...two, host(1011, 'm-2', 'Committed'), third])).toEqual([]);
    expect(judge([...two, host(1011, 'm-2', 'GaveUp'), third])).toEqual([]);
    expect(judge([...two, host(1011, 'm-2', 'Working'), third])).toEqual(over);
    expect(judge([...two, machine(1011, 'm-2', { exists: false }), third])).toEqual([]);
    expect(judge([...two, machine(1011, 'm-2', { sets: [] }), third])).toEqual([]);
    const settled = grant(1011, 'm-2', { isOpen: false });
    expect(judge([...two, grant(1011, 'm-2'), third])).toEqual(over);
    expect(judge([...two, settled, third])).toEqual([]);
    expect(judge([...two, settled, machine(1011, 'm-2', { serves: false }), third])).toEqual(over);
    // It is not in service before its Node is Ready again.
    const broken = machine(1011, 'm-2', { serves: false });
    expect(judge([...two, broken, host(1011, 'm-2', 'Committed'), third])).toEqual(over);
    const cordoned = { serves: false, isHealthy: true };
    const done = host(1011, 'm-2', 'Committed');
    expect(judge([...two, machine(1011, 'm-2', cordoned), done, third])).toEqual(over);
    const byPerson = machine(1011, 'm-2', { ...cordoned, isCordonedByPerson: true });
    expect(judge([...two, byPerson, done, third])).toEqual([]);
    expect(judge([...two, byPerson, third])).toEqual(over);
  });

  it('gives every process time to know of the silence of an agent, whose Node serves again after its update', () => {
    const two = [FLEET, start(1010, 'm-1'), start(1010, 'm-2')];
    const silent = { serves: false, isSilent: true } as const;
    const done = host(1020, 'm-2', 'Committed');
    const broken = machine(1015, 'm-2', { serves: false });
    const back = machine(1030, 'm-2', { ...silent, nodeServes: true });
    const over = ['3 machines out of service, and 2 allowed'];
    expect(judge([...two, broken, done, back, start(1105, 'm-3')])).toEqual([]);
    expect(judge([...two, broken, done, back, start(1106, 'm-3')])).toEqual(over);
    // Its Node does not serve, its update goes on, or its agent was silent before.
    expect(judge([...two, broken, done, machine(1030, 'm-2', silent), start(1040, 'm-3')])).toEqual(over);
    expect(judge([...two, broken, back, start(1040, 'm-3')])).toEqual(over);
    const before = [broken, machine(1018, 'm-2', silent), done, back];
    expect(judge([...two, ...before, start(1093, 'm-3')])).toEqual([]);
    expect(judge([...two, ...before, start(1094, 'm-3')])).toEqual(over);
  });

  it('counts only machines that were in service, and that long enough to be known', () => {
    const two = [FLEET, start(1010, 'm-1'), start(1010, 'm-2')];
    const broken = machine(1005, 'm-3', { serves: false });
    const repaired = machine(1008, 'm-3');
    expect(judge([FLEET, broken, ...two.slice(1), start(1011, 'm-3')])).toEqual([]);
    expect(judge([FLEET, broken, repaired, ...two.slice(1), start(1011, 'm-3')])).toEqual([]);
    // One that is out already goes back at no cost.
    expect(judge([...two, start(1020, 'm-2', { revision: 'r-1' })])).toEqual([]);
    const faulty = [host(1011, 'm-2', 'Committed'), machine(1012, 'm-2', { isFaulty: true })];
    expect(judge([...two, ...faulty, start(1020, 'm-2', { revision: 'r-1' })])).toEqual([]);
    // And so does one that failed, which tries again.
    const token = desired(1300, { maxUnavailable: 1, retryToken: 'again' });
    const retries = [start(1310, 'm-1'), start(1320, 'm-2')];
    expect(judge([...two, host(1011, 'm-2', 'GaveUp'), token, ...retries])).toEqual([]);
    expect(judge([...two, host(1011, 'm-2', 'Committed'), token, ...retries])).toEqual([
      '2 machines out of service, and 1 allowed',
    ]);
  });

  it('allows what was allowed in the middle of a reconcile', () => {
    const less = desired(1011, { maxUnavailable: 1 });
    expect(judge([FLEET, start(1010, 'm-1'), less, start(1011, 'm-2')])).toEqual([]);
    expect(judge([FLEET, start(1010, 'm-1'), less, start(1020, 'm-2')])).toEqual([
      '2 machines out of service, and 1 allowed',
    ]);
  });
});
