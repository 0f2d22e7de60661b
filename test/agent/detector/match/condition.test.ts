import { describe, expect, it } from 'vitest';
import { type ConditionFinding, reportConditions } from '../../../../src/agent/detector/match/condition.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const good = finding('False', 'Good', 'all is well');
const bad = finding('True', 'Bad', 'first');

describe('condition', () => {
  it('makes no Event of the first report of a good condition', () => {
    expect(reportConditions([], [['A', good]])).toEqual({
      conditions: [
        { type: 'A', status: 'False', reason: 'Good', message: 'all is well', since: NOW.toISOString() },
      ],
      events: [],
    });
  });

  it('makes an Event of each change of status or reason', () => {
    const first = reportConditions([], [['A', bad]]);
    const second = reportConditions(first.conditions, [['A', finding('True', 'Worse', 'second')]]);
    const third = reportConditions(second.conditions, [['A', good]]);
    expect([first, second, third].map(({ events }) => events.map(({ reason }) => reason))).toEqual([
      ['Bad'],
      ['Worse'],
      ['Good'],
    ]);
  });

  it.each([
    ['True', 'Warning'],
    ['False', 'Normal'],
    ['Unknown', 'Normal'],
  ] as const)('makes an Event of the type that node-problem-detector gives it: %s', (status, type) => {
    const { conditions } = reportConditions([], [['A', good]]);
    const { events } = reportConditions(conditions, [['A', finding(status, 'Changed', 'say "why"')]]);
    const message = `Node condition A is now: ${status}, reason: Changed, message: "say \\"why\\""`;
    expect(events).toEqual([{ type, reason: 'Changed', message, condition: 'A' }]);
  });

  it.each([
    [false, 0],
    [true, 1],
  ])(
    'reports a new message of a bad condition only where that is asked for: %s',
    (reportsMessages, events) => {
      const { conditions } = reportConditions([], [['A', bad]]);
      const again = reportConditions(conditions, [['A', { ...bad, message: 'second' }]], reportsMessages);
      expect(again.events).toHaveLength(events);
    },
  );
});

function finding(status: ConditionFinding['status'], reason: string, message: string): ConditionFinding {
  return { status, reason, message, since: NOW };
}
