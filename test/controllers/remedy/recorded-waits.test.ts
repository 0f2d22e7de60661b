import { describe, expect, it } from 'vitest';
import type { MachineRemedyWait } from '../../../src/api/generated/types.ts';
import type { RemedyWait } from '../../../src/api/status/rule-waits.ts';
import type { RemedyFinding } from '../../../src/controllers/remedy/findings.ts';
import { recordedWaits } from '../../../src/controllers/remedy/recorded-waits.ts';
import { NOW } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

const RULE = 'kernel-hang';
const ago = (seconds: number): Date => new Date(+NOW - seconds * 1000);
const textAgo = (seconds: number): string => ago(seconds).toISOString().replace('.000Z', 'Z');

function finding(wait: RemedyWait | undefined, waitedSeconds = 90): RemedyFinding {
  const found = { outcome: 'Match', because: 'it is', isSinceKnown: true } as const;
  return wait ? { ...found, wait, waitSince: ago(waitedSeconds) } : found;
}

function record(
  wait: RemedyWait | undefined,
  recorded: readonly MachineRemedyWait[] = [],
  waitedSeconds?: number,
): ReturnType<typeof recordedWaits> {
  const findings = new Map([[RULE, finding(wait, waitedSeconds)]]);
  return recordedWaits({ recorded, remediers: [remedier()], findings, now: NOW });
}

const BEFORE: MachineRemedyWait = {
  rule: RULE,
  faultClass: 'Kernel',
  reason: 'GateClosed',
  since: '2026-01-01T00:00:00Z',
  message: 'Ready is False for 20 s',
};
const ROWS: readonly [string, RemedyWait | undefined, readonly MachineRemedyWait[], readonly unknown[]][] = [
  ['a rule that waits for nothing', undefined, [BEFORE], []],
  [
    'a new wait, with the time since it has its reason',
    { reason: 'HumanHold', message: 'disk swap' },
    [BEFORE],
    [{ rule: RULE, faultClass: 'Kernel', reason: 'HumanHold', since: textAgo(90), message: 'disk swap' }],
  ],
  [
    'a denial, by the reason of the Defender',
    { reason: 'Denied', message: 'KillSwitch: stop', denial: 'KillSwitch' },
    [],
    [
      {
        rule: RULE,
        faultClass: 'Kernel',
        reason: 'KillSwitch',
        since: textAgo(90),
        message: 'KillSwitch: stop',
      },
    ],
  ],
  [
    'the same wait with another measured value, as it is recorded',
    { reason: 'GateClosed', message: 'Ready is False for 50 s' },
    [BEFORE],
    [BEFORE],
  ],
  [
    'the class of the fault, which an earlier version did not record',
    { reason: 'GateClosed', message: 'Ready is False for 50 s' },
    [{ rule: RULE, reason: 'GateClosed', since: BEFORE.since, message: BEFORE.message ?? '' }],
    [{ ...BEFORE, message: 'Ready is False for 50 s' }],
  ],
  [
    'the same reason with another sentence, since the reason began',
    { reason: 'GateClosed', message: 'rebooted twice' },
    [BEFORE],
    [{ ...BEFORE, message: 'rebooted twice' }],
  ],
  [
    'a fact that has been unknown for more than a minute',
    { reason: 'Indeterminate', message: 'no heartbeat' },
    [BEFORE],
    [
      {
        rule: RULE,
        faultClass: 'Kernel',
        reason: 'Indeterminate',
        since: textAgo(90),
        message: 'no heartbeat',
      },
    ],
  ],
  [
    'what was recorded of a rule that no longer selects the machine',
    undefined,
    [{ ...BEFORE, rule: 'x' }],
    [],
  ],
];

describe('waits of rules, as a Machine records them', () => {
  it.each(ROWS)('has %s', (_, wait, recorded, expected) => {
    expect(record(wait, recorded)).toEqual({ waits: expected });
  });

  it.each(['Starting', 'Indeterminate'] as const)(
    'keeps what was recorded while %s is young, and returns when it no longer is',
    (reason) => {
      const nextAt = new Date(+NOW + 40_000);
      const wait = { reason, message: 'soon over' };
      expect(record(wait, [BEFORE], 20)).toEqual({ waits: [BEFORE], nextAt });
      expect(record(wait, [], 20)).toEqual({ waits: [], nextAt });
      expect(record(wait, [BEFORE], 60).waits).toMatchObject([{ reason }]);
    },
  );

  it('has those with the highest priority when more rules wait than fit, by name, with messages of a valid length', () => {
    const names = Array.from({ length: 17 }, (_, index) => `rule-${String(index).padStart(2, '0')}`);
    const remediers = names.map((name, index) =>
      remedier({ '/priority': name === 'rule-16' ? 900 : 100 + index }, { name }),
    );
    const wait = finding({ reason: 'Observe', message: 'x'.repeat(600) });
    const findings = new Map(names.map((name) => [name, wait]));
    const { waits } = recordedWaits({ recorded: [], remediers, findings, now: NOW });
    expect(waits.map(({ rule }) => rule)).toEqual(names.slice(1));
    expect(new Set(waits.map(({ message }) => message?.length))).toEqual(new Set([512]));
  });
});
