import { describe, expect, it } from 'vitest';
import type { Pipeline, Window } from '../../../src/api/generated/types.ts';
import { closedSetNotes, closedTimeNotes } from '../../../src/views/status/closed-times.ts';

const WORK: Window = { name: 'work', days: ['Mon', 'Tue'], start: '09:00', end: '16:00', timeZone: 'UTC' };
const XMAS = {
  name: 'x-mas',
  from: '2030-12-20T18:00:00Z',
  until: '2031-01-03T06:00:00Z',
  reason: 'end of year',
};
const FROZEN = 'closed now by freeze x-mas until 2031-01-03T06:00:00.000Z: end of year';
const NEXT =
  'closes at 2030-12-20T18:00:00.000Z, by freeze x-mas until 2031-01-03T06:00:00.000Z: end of year';

interface Times {
  readonly freezes?: readonly object[];
  readonly gates?: object;
  readonly windows?: readonly Window[];
}

function notes(now: string, { freezes = [], gates, windows = [] }: Times): readonly string[] {
  const spec = { freezes, stages: [{ name: 'prod', windows }] };
  return closedTimeNotes({ spec, status: { gates } } as unknown as Pipeline, new Date(now));
}

describe('the notes about closed times', () => {
  it.each<[name: string, now: string, times: Times, expected: readonly string[]]>([
    ['nothing of a Pipeline that is always open', '2030-12-02T10:00:00Z', {}, []],
    ['a freeze, and for how long', '2030-12-20T18:00:00Z', { freezes: [XMAS] }, [FROZEN]],
    ['a freeze two weeks ahead', '2030-12-06T18:00:00Z', { freezes: [XMAS] }, [NEXT]],
    ['nothing of a freeze that is further ahead', '2030-12-06T17:59:59Z', { freezes: [XMAS] }, []],
    ['nothing of a freeze that is over', '2031-01-03T06:00:00Z', { freezes: [XMAS] }, []],
    [
      'a freeze that a commit removed, as long as it is in force',
      '2030-12-21T00:00:00Z',
      { gates: { inForce: { freezes: [] }, judging: { commits: ['c'], gates: { freezes: [XMAS] } } } },
      [FROZEN],
    ],
    [
      'a freeze once, although it is recorded as well',
      '2030-12-07T00:00:00Z',
      { freezes: [XMAS], gates: { inForce: { freezes: [XMAS] } } },
      [NEXT],
    ],
    [
      'a stage outside of its windows',
      '2030-12-04T10:00:00Z',
      { windows: [WORK] },
      [
        'stage prod is closed now: outside of the windows (work): the next one opens at 2030-12-09T09:00:00.000Z',
      ],
    ],
    [
      'a stage whose window closes today',
      '2030-12-02T10:00:00Z',
      { windows: [WORK] },
      ['stage prod closes at 2030-12-02T16:00:00.000Z, with window work'],
    ],
    [
      'nothing of a window that closes in days',
      '2030-12-02T10:00:00Z',
      { windows: [{ ...WORK, start: '00:00', end: '00:00' }] },
      [],
    ],
    [
      'a window of an unknown time zone, which never opens',
      '2030-12-02T10:00:00Z',
      { windows: [{ ...WORK, timeZone: 'Mars/Base' }] },
      [
        'stage prod is closed now: window work has the unknown time zone Mars/Base: use a name such as Europe/Berlin',
      ],
    ],
  ])('S36 the notes of status tell %s', (_, now, times, expected) => {
    expect(notes(now, times)).toEqual(expected);
  });
});

describe('the notes about closed times of a set', () => {
  it.each<
    [
      name: string,
      now: string,
      times: Required<Pick<Times, 'freezes' | 'windows'>>,
      expected: readonly RegExp[],
    ]
  >([
    ['nothing of a set that is always open', '2030-12-02T10:00:00Z', { windows: [], freezes: [] }, []],
    [
      'a closed window and the next freeze',
      '2030-12-10T20:00:00Z',
      { windows: [WORK], freezes: [XMAS] },
      [
        /^now: outside of the windows \(work\): the next one opens at 2030-12-16T09:00/,
        /^closes at 2030-12-20/,
      ],
    ],
    [
      'the end of an open window',
      '2030-12-02T10:00:00Z',
      { windows: [WORK], freezes: [] },
      [/^closes at 2030-12-02T16:00:00.000Z, with window work$/],
    ],
    [
      'a freeze',
      '2030-12-23T10:00:00Z',
      { windows: [WORK], freezes: [XMAS] },
      [/^now: freeze x-mas until 2031-01-03/],
    ],
  ])('S36 names for a person %s', (_, now, times, expected) => {
    const found = closedSetNotes(times as never, new Date(now));
    expect(found).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(found[index]).toMatch(pattern);
  });
});
