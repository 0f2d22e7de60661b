import { describe, expect, it } from 'vitest';
import type { MachineFault } from '../../../src/api/generated/types.ts';
import {
  type ConditionHistory,
  type ConditionSources,
  observeConditions,
} from '../../../src/rules/clocks/condition-clock.ts';
import type { TimePoint } from '../../../src/rules/clocks/time-point.ts';

const START = Date.parse('2030-01-01T12:00:00Z');
const HOUR = 3600;

/** By the monotonic clock, which begins at 0; the other clock may be wrong by some seconds. */
function at(seconds: number, wallOffset = 0): TimePoint {
  return { ms: seconds * 1000, at: new Date(START + (seconds + wallOffset) * 1000) };
}

function time(seconds: number): string {
  return at(seconds).at.toISOString();
}

function hung(status: string, reason = 'TaskHung', lastTransitionTime = time(0)): object {
  return { type: 'Hung', status, reason, lastTransitionTime };
}

function sources(node: readonly object[], more: Partial<ConditionSources> = {}): ConditionSources {
  return { nodeUID: 'uid-1', bootID: 'boot-1', node, machine: [], faults: [], ...more };
}

function observe(...steps: readonly (readonly [TimePoint, ConditionSources])[]): ConditionHistory {
  const last = steps.reduce<ConditionHistory | undefined>(
    (before, [moment, its]) => observeConditions(before, its, moment),
    undefined,
  );
  return (
    last ?? {
      nodeUID: undefined,
      types: new Map(),
      bootID: undefined,
      bootedMs: undefined,
      hasMachine: false,
    }
  );
}

function sinceSeconds(history: ConditionHistory): number | undefined {
  const observed = history.types.get('Hung');
  return observed && observed.sinceMs / 1000;
}

const TRUE = sources([hung('True')]);
const RECORD: MachineFault = {
  type: 'Hung',
  status: 'True',
  nodeUID: 'uid-1',
  since: time(-600),
  transitions: 3,
};

describe('the clock of conditions', () => {
  it.each<
    readonly [
      name: string,
      since: number | undefined,
      steps: readonly (readonly [TimePoint, ConditionSources])[],
    ]
  >([
    ['R2 counts a status from when this process first observed it', 5, [[at(5), TRUE]]],
    [
      'R2 goes on counting while reason and message change',
      0,
      [
        [at(0), TRUE],
        [at(60), sources([hung('True', 'OtherReason', time(60))])],
        [at(120), TRUE],
      ],
    ],
    [
      'R2 begins again when the status changes',
      60,
      [
        [at(0), TRUE],
        [at(30), sources([hung('False')])],
        [at(60), TRUE],
      ],
    ],
    [
      'R2 begins again for another Node of the same name',
      60,
      [
        [at(0), TRUE],
        [at(60), sources([hung('True')], { nodeUID: 'uid-2' })],
      ],
    ],
    [
      'R2 does not count the time in which the condition was not reported',
      90,
      [
        [at(0), TRUE],
        [at(60), sources([])],
        [at(90), TRUE],
      ],
    ],
    [
      'R2 ignores jumps of the wall clock',
      0,
      [
        [at(0), TRUE],
        [at(60, HOUR), TRUE],
        [at(120, -HOUR), TRUE],
      ],
    ],
    [
      'R2 restores what an earlier process recorded',
      -600,
      [[at(0), sources([hung('True')], { faults: [RECORD] })]],
    ],
    [
      'R2 restores it when the Node is observed before its Machine',
      -590,
      [
        [at(0), sources([hung('True')], { faults: undefined })],
        [at(10), sources([hung('True')], { faults: [{ ...RECORD, since: time(-590) }] })],
      ],
    ],
    [
      'R2 does not restore the record of another status',
      0,
      [[at(0), sources([hung('False')], { faults: [RECORD] })]],
    ],
    [
      'R2 does not restore the record of another Node',
      0,
      [[at(0), sources([hung('True')], { faults: [{ ...RECORD, nodeUID: 'uid-0' }] })]],
    ],
    [
      'R2 does not restore a record that has no valid time',
      0,
      [[at(0), sources([hung('True')], { faults: [{ ...RECORD, since: 'yesterday' }] })]],
    ],
    [
      'R2 trusts what it observed more than a record that is written later',
      60,
      [
        [at(0), sources([hung('False')])],
        [at(60), sources([hung('True')], { faults: [RECORD] })],
      ],
    ],
  ])('%s', (_, since, steps) => {
    expect(sinceSeconds(observe(...steps))).toBe(since);
  });

  it('R4 takes the condition of the Node where the Machine has one of the same type', () => {
    const machine = [
      { type: 'Hung', status: 'False' },
      { type: 'AgentReady', status: 'True' },
    ];
    const { types } = observe([at(0), sources([hung('True')], { machine })]);
    expect([...types].map(([type, { from, status }]) => [type, from, status])).toEqual([
      ['Hung', 'Node', 'True'],
      ['AgentReady', 'Machine', 'True'],
    ]);
  });

  it('R2 keeps the changes of one hour only, and at most 100', () => {
    const toggles = Array.from(
      { length: 250 },
      (_, index) => [at(index * 60), sources([hung(index % 2 ? 'True' : 'False')])] as const,
    );
    const slow = observe(...toggles).types.get('Hung');
    expect([slow?.transitions, slow?.changesMs.length]).toEqual([249, 60]);
    const fast = observe(...toggles.map(([, its], index) => [at(index), its] as const)).types.get('Hung');
    expect(fast?.changesMs.length).toBe(100);
  });

  it('R3 remembers when another boot of the same Node was observed', () => {
    const second = sources([hung('True')], { bootID: 'boot-2' });
    const unknown = sources([hung('True')], { bootID: undefined });
    expect(observe([at(0), TRUE], [at(9), second], [at(20), second]).bootedMs).toBe(9000);
    expect(observe([at(0), TRUE], [at(9), unknown], [at(20), TRUE]).bootedMs).toBeUndefined();
  });

  it('R1 ignores conditions without a type', () => {
    const lies = [null, 'Ready', 4, {}, { type: 7 }] as readonly object[];
    expect(observe([at(0), sources(lies, { machine: lies, faults: lies })]).types.size).toBe(0);
  });
});

function once(node: readonly object[], more: Partial<ConditionSources> = {}): ConditionSources {
  return sources(node, { startsAtTransition: true, ...more });
}

describe('the clock of conditions in a command that reads once', () => {
  it.each<[string, readonly (readonly [TimePoint, ConditionSources])[], number]>([
    ['counts from the last transition, not from the command', [[at(500), once([hung('True')])]], 0],
    [
      'counts from the record of the controllers, also where it began later',
      [[at(500), once([hung('True')], { faults: [{ ...RECORD, since: time(200) }] })]],
      200,
    ],
    [
      'counts from the record when the Node is observed before its Machine',
      [
        [at(500), once([hung('True')], { faults: undefined })],
        [at(501), once([hung('True')], { faults: [{ ...RECORD, since: time(200) }] })],
      ],
      200,
    ],
    [
      'counts from now without a valid transition',
      [[at(500), once([hung('True', 'TaskHung', 'yesterday')])]],
      500,
    ],
  ])('%s', (_, steps, expected) => {
    expect(sinceSeconds(observe(...steps))).toBe(expected);
  });
});
