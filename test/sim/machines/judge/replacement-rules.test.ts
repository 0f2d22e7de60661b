import { describe, expect, it } from 'vitest';
import type { LedgerGrant, Machine, MachineKept } from '../../../../src/api/generated/types.ts';
import { VIEW_DELAY_MS } from '../../../../src/sim/machines/judge/recent.ts';
import {
  createReplacementRules,
  type ReplacementRules,
} from '../../../../src/sim/machines/judge/replacement-rules.ts';
import { KEEP } from '../../../../src/sim/machines/set-repairs.ts';
import { machine } from '../../../support/builders.ts';

const NOW_MS = Date.parse('2030-01-01T12:00:00Z');

interface Bed {
  readonly clock: { ms: number };
  readonly rules: ReplacementRules;
}

function bed(members: readonly Machine[], action = 'ReplaceMachine'): Bed {
  const clock = { ms: NOW_MS };
  const grant = { action } as LedgerGrant;
  const truth = { members: () => members, live: () => members, grantOf: () => grant };
  return { clock, rules: createReplacementRules({ truth, nowMs: () => clock.ms }) };
}

function timeAt(ms: number): string {
  return new Date(NOW_MS + ms).toISOString();
}

function marked(readySinceMs: number | undefined, wasReady = false): Machine {
  const status = readySinceMs === undefined ? 'False' : 'True';
  const ready = {
    type: 'Ready',
    reason: 'AsWanted',
    message: '',
    lastTransitionTime: timeAt(readySinceMs ?? 0),
  };
  const mark = { job: 'j', grant: 'g-1', fence: 1, replacementFirst: true, wasReady, since: timeAt(0) };
  return machine('m', { status: { conditions: [{ ...ready, status }], replacement: mark } });
}

function kept(name: string, changes: Partial<MachineKept> = {}): Machine {
  const times = { since: timeAt(0), until: timeAt(KEEP.holdSeconds * 1000) };
  return machine(name, {
    metadata: { deletionTimestamp: timeAt(0) },
    status: { kept: { job: 'j', max: KEEP.max, ...times, ...changes } },
  });
}

describe('createReplacementRules', () => {
  it.each<[name: string, one: Machine, action: string, expected: boolean]>([
    ['is Ready for longer than any view is late', marked(-VIEW_DELAY_MS - 1), 'ReplaceMachine', true],
    ['is Ready since a moment', marked(-VIEW_DELAY_MS), 'ReplaceMachine', false],
    ['is not Ready', marked(undefined), 'ReplaceMachine', false],
    ['was Ready when the job marked it', marked(-VIEW_DELAY_MS - 1, true), 'ReplaceMachine', false],
    ['is deleted under a grant of its set', marked(-VIEW_DELAY_MS - 1), 'DeleteMachine', false],
  ])('judges whether a marked machine came back that %s', (_, one, action, expected) => {
    expect(bed([one], action).rules.hasReturned(one)).toBe(expected);
  });

  it('allows one machine more while a job replaces one, and until every view knows its end', () => {
    const members = [marked(undefined)];
    const { rules, clock } = bed(members);
    expect([rules.observe(), rules.surge()]).toEqual([[], 1]);
    members.pop();
    clock.ms += VIEW_DELAY_MS;
    expect(rules.surge()).toBe(1);
    clock.ms += 1;
    expect(rules.surge()).toBe(0);
  });

  it('finds more kept instances than allowed once every view knows them', () => {
    const { rules, clock } = bed([kept('a'), kept('b')]);
    expect(rules.observe()).toEqual([]);
    clock.ms += VIEW_DELAY_MS + 1;
    expect(rules.observe()).toEqual(['more instances are kept than allowed']);
    clock.ms += KEEP.holdSeconds * 1000;
    expect(rules.observe()).toEqual([]);
  });

  it('finds an instance that is kept for longer than asked', () => {
    const long = kept('a', { until: timeAt(KEEP.holdSeconds * 1000 + 1) });
    expect(bed([long]).rules.observe()).toEqual(['an instance is kept for longer than asked']);
    expect(bed([kept('a')]).rules.observe()).toEqual([]);
  });
});
