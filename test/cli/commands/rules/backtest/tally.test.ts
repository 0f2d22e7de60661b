import { describe, expect, it } from 'vitest';
import {
  createTally,
  type ObservedRule,
  type Tally,
} from '../../../../../src/cli/commands/rules/backtest/tally.ts';

const START = Date.UTC(2030, 0, 1);

function at(seconds: number): string {
  return new Date(START + seconds * 1000).toISOString();
}

type Word = 'well' | 'ill' | 'held' | 'break' | 'unknown' | 'none';

/** `break`: NoMatch before `clearSeconds` have passed. */
const WORDS: Readonly<Record<Word, ObservedRule | undefined>> = {
  well: { outcome: 'NoMatch', because: 'well', sinceMs: undefined },
  ill: { outcome: 'Match', because: 'hung is 5', sinceMs: START },
  held: { outcome: 'Held', because: 'gate: hung is 5', sinceMs: START, wait: 'GateClosed: gate' },
  break: { outcome: 'NoMatch', because: 'well', sinceMs: START },
  unknown: { outcome: 'Indeterminate', because: 'silent for 31 s', sinceMs: undefined },
  none: undefined,
};

/** `0 well, 10 ill`: seconds and what is observed then, of one machine. */
function observe(tally: Tally, text: string, machine = 'm-1'): void {
  for (const step of text.split(', ')) {
    const [seconds, word] = step.split(' ') as [string, Word];
    tally.observe(machine, START + Number(seconds) * 1000, WORDS[word]);
  }
}

function second(time: string): number {
  return (Date.parse(time) - START) / 1000;
}

/** `10-40 30s held 0s`, or `10-` while it is still there. */
function casesOf(tally: Tally): readonly string[] {
  return tally
    .machines()
    .flatMap(({ cases }) =>
      cases.map(
        ({ from, to, matchedSeconds, heldSeconds }) =>
          `${second(from)}-${to === undefined ? '' : second(to)} ${matchedSeconds}s held ${heldSeconds}s`,
      ),
    );
}

describe('createTally', () => {
  it.each<[name: string, steps: string, cases: readonly string[]]>([
    ['a machine that is well', '0 well, 600 well', []],
    ['a fault that ended', '0 well, 10 ill, 40 break, 640 well', ['10-40 30s held 0s']],
    ['a fault that is still there at the end', '0 ill', ['0- 1000s held 0s']],
    ['a fault that ended before the end, and could come back', '0 ill, 30 break', ['0-30 30s held 0s']],
    ['a short break as part of the fault', '0 ill, 30 break, 50 ill, 60 well', ['0- 40s held 0s']],
    [
      'two faults',
      '0 ill, 30 break, 700 well, 800 ill, 810 break, 950 well',
      ['0-30 30s held 0s', '800-810 10s held 0s'],
    ],
    ['a closed gate', '0 held, 50 ill, 60 break, 700 well', ['0-60 60s held 50s']],
    ['a machine that was deleted', '0 ill, 30 none', ['0- 30s held 0s']],
    ['unknown facts in between', '0 ill, 30 unknown', ['0- 30s held 0s']],
  ])('records %s', (_, steps, cases) => {
    const tally = createTally();
    observe(tally, steps);
    tally.interrupt(START + 1_000_000);
    expect(casesOf(tally)).toEqual(cases);
  });

  it('counts nothing between two processes, and closes what was open', () => {
    const tally = createTally();
    observe(tally, '0 ill');
    tally.interrupt(START + 10_000);
    observe(tally, '500 ill');
    tally.interrupt(START + 520_000);
    expect(casesOf(tally)).toEqual(['0- 10s held 0s', '500- 20s held 0s']);
  });

  it('keeps what the Defender would be asked for once, with its time, and each reason to wait', () => {
    const tally = createTally();
    observe(tally, '0 held, 10 ill');
    const reboot = { action: 'Reboot', risk: 'Node' } as const;
    tally.ask('m-1', START + 10_000, reboot);
    tally.ask('m-1', START + 20_000, reboot);
    tally.ask('unheard-of', START, reboot);
    tally.interrupt(START + 30_000);
    expect(tally.machines()).toMatchObject([
      {
        machine: 'm-1',
        cases: [
          { because: 'gate: hung is 5', asks: [{ ...reboot, at: at(10) }], waits: ['GateClosed: gate'] },
        ],
      },
    ]);
  });

  it('adds up the times of one reason for unknown facts, whatever its numbers', () => {
    const tally = createTally();
    observe(tally, '0 unknown, 10 well, 20 unknown');
    tally.observe('m-1', START + 25_000, {
      outcome: 'Indeterminate',
      because: 'silent for 36 s',
      sinceMs: undefined,
    });
    tally.interrupt(START + 30_000);
    expect(tally.machines()[0]?.indeterminate).toEqual([
      { because: 'silent for 31 s', times: 2, seconds: 20 },
    ]);
  });

  it('lists at most five reasons and fifty faults of a machine, and counts the others', () => {
    const tally = createTally();
    for (const letter of 'abcdefgh') {
      tally.observe('m-1', START, { outcome: 'Indeterminate', because: letter, sinceMs: undefined });
    }
    for (let step = 1; step <= 60; step += 1) observe(tally, `${step * 10} ill, ${step * 10 + 5} well`);
    const [found] = tally.machines();
    expect(found?.indeterminate.map(({ because }) => because)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'other reasons',
    ]);
    expect([found?.cases.length, found?.moreCases]).toEqual([50, 10]);
  });

  it('knows how many machines were ill at the same time, and when first', () => {
    const tally = createTally();
    observe(tally, '0 ill, 50 well', 'm-1');
    observe(tally, '60 ill', 'm-2');
    observe(tally, '70 held', 'constructor');
    observe(tally, '80 well', 'm-2');
    expect(tally.peak()).toEqual({ machines: 2, at: at(70) });
    expect(tally.machines().map(({ machine }) => machine)).toEqual(['constructor', 'm-1', 'm-2']);
  });

  it('does not count those who were ill before a gap together with those after it', () => {
    const tally = createTally();
    observe(tally, '0 ill', 'm-1');
    tally.interrupt(START + 10_000);
    observe(tally, '500 ill', 'm-2');
    expect(tally.peak()).toEqual({ machines: 1, at: at(0) });
  });
});
