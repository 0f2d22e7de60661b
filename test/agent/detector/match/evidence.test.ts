import { describe, expect, it } from 'vitest';
import { readLogMonitor } from '../../../../src/agent/detector/config/log-monitor.ts';
import type { LogMonitorConfig } from '../../../../src/agent/detector/config/monitor.ts';
import { readSupplement } from '../../../../src/agent/detector/config/supplement.ts';
import type { DetectedCondition } from '../../../../src/agent/detector/match/condition.ts';
import {
  addEvidence,
  type Evidence,
  judgeLog,
  movedBy,
  noLaterThan,
  temporaryEvent,
} from '../../../../src/agent/detector/match/evidence.ts';
import { journalMonitor, kernelMonitor } from '../../../support/agent/detector-config.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const kernel = readLogMonitor(kernelMonitor, 'kernel.json');
const clearing = readSupplement({
  source: 'kernel-monitor',
  conditions: [{ type: 'ReadonlyFilesystem', clearAfter: '10m' }],
}).apply(kernel);
const counting = readSupplement({
  source: 'hung-task-monitor',
  rules: [{ reason: 'TaskHung', count: 3, windowSeconds: 300 }],
}).apply(readLogMonitor(journalMonitor, 'hung.json'));

describe('evidence', () => {
  it('leaves what a permanent rule raised as it is, with the time and the lines of the match', () => {
    const evidence = raise(kernel, 'DockerHung', [0]);
    expect(judged(kernel, evidence, 7 * 86_400)).toEqual([
      'KernelDeadlock True DockerHung line 0 12:00:00',
      'ReadonlyFilesystem False FilesystemIsNotReadOnly not read-only 12:00:00',
    ]);
  });

  it('AGT-73 clears a condition that has a time for it, counted from the newest line', () => {
    const evidence = raise(clearing, 'FilesystemIsReadOnly', [0, 300]);
    expect(statusAt(clearing, evidence, 'ReadonlyFilesystem', [899, 900])).toEqual(['True', 'False']);
  });

  it.each([
    ['two lines are too few', [0, 10], 10, 'False'],
    ['three lines are enough', [0, 10, 20], 20, 'True'],
    ['as long as three are in the window', [0, 10, 20], 299, 'True'],
    ['not after the first one left it', [0, 10, 20], 300, 'False'],
    ['later lines keep it', [0, 10, 20, 250, 260, 270], 500, 'True'],
    ['lines far from each other never raise it', [0, 200, 400, 600], 600, 'False'],
  ])('AGT-73 counts the lines of a rule within its window: %s', (_, seconds, at, status) => {
    const evidence = raise(counting, 'TaskHung', seconds);
    expect(statusAt(counting, evidence, 'FrequentTaskHung', [at])).toEqual([status]);
    expect(evidence[0]?.timesMs.length).toBeLessThanOrEqual(3);
  });

  it('keeps time and message while the reason is the same, and reports each change once', () => {
    const first = judge(kernel, raise(kernel, 'DockerHung', [0]), 0);
    const second = judge(kernel, raise(kernel, 'DockerHung', [0, 60]), 60, first.conditions);
    expect(second.conditions[0]).toBe(first.conditions[0]);
    expect(first.events.map(({ type, reason, message }) => [type, reason, message])).toEqual([
      [
        'Warning',
        'DockerHung',
        'Node condition KernelDeadlock is now: True, reason: DockerHung, message: "line 0"',
      ],
    ]);
    expect(second.events).toEqual([]);
  });

  it('says that nothing is known while the log cannot be read, but keeps what was raised', () => {
    const evidence = raise(kernel, 'DockerHung', [0]);
    const { conditions } = judge(kernel, evidence, 60, [], 'no such file');
    expect(conditions.map(({ status, reason, message }) => [status, reason, message])).toEqual([
      ['True', 'DockerHung', 'line 0'],
      ['Unknown', 'LogUnreadable', 'no such file'],
    ]);
  });

  it('holds nothing of a rule that is no longer in the file', () => {
    const evidence = raise(kernel, 'DockerHung', [0]);
    expect(statusAt({ ...kernel, rules: [] }, evidence, 'KernelDeadlock', [1])).toEqual(['False']);
  });

  it('appends the advice of a rule to the lines of its match', () => {
    const [plain] = kernel.rules;
    const advised = {
      ...kernel,
      rules: kernel.rules.map((rule) => ({ ...rule, suffix: 'see the runbook' })),
    };
    expect(temporaryEvent(matchOf(advised, plain?.reason ?? '', 0))?.message).toBe('line 0; see the runbook');
    const evidence = raise(advised, 'DockerHung', [7]);
    expect(judged(advised, evidence, 7)[0]).toContain('True DockerHung line 7; see the runbook');
  });

  it('cuts the lines of a long message, and not the advice', () => {
    const [rule] = kernel.rules;
    if (!rule) throw new Error('no rule');
    const lines = [{ time: NOW, message: 'x'.repeat(2000) }] as const;
    const message = temporaryEvent({ rule: { ...rule, suffix: 'call' }, lines })?.message;
    expect(message).toBe(`${'x'.repeat(1018)}; call`);
  });

  it('moves with the wall clock, and never has a time that is later than now', () => {
    const evidence = raise(counting, 'TaskHung', [0, 10, 20]);
    const [moved] = movedBy(evidence, 60_000);
    expect([moved?.atMs, ...(moved?.timesMs ?? [])]).toEqual(
      [80, 60, 70, 80].map((at) => after(at).getTime()),
    );
    const [limited] = noLaterThan(evidence, after(10));
    expect([limited?.atMs, ...(limited?.timesMs ?? [])]).toEqual(
      [10, 0, 10, 10].map((at) => after(at).getTime()),
    );
  });

  it('makes an Event of a temporary rule, and no evidence', () => {
    const match = matchOf(kernel, 'TaskHung', 0);
    expect(temporaryEvent(match)).toEqual({ type: 'Warning', reason: 'TaskHung', message: 'line 0' });
    expect(addEvidence([], match)).toEqual([]);
    expect(temporaryEvent(matchOf(kernel, 'DockerHung', 0))).toBeUndefined();
  });
});

function raise(monitor: LogMonitorConfig, reason: string, seconds: readonly number[]): readonly Evidence[] {
  return seconds.reduce<readonly Evidence[]>((all, at) => addEvidence(all, matchOf(monitor, reason, at)), []);
}

function matchOf(
  monitor: LogMonitorConfig,
  reason: string,
  second: number,
): Parameters<typeof addEvidence>[1] {
  const rule = monitor.rules.find((each) => each.reason === reason);
  if (!rule) throw new Error(`no rule ${reason}`);
  return { rule, lines: [{ time: after(second), message: `line ${second}` }] };
}

function judge(
  monitor: LogMonitorConfig,
  evidence: readonly Evidence[],
  second: number,
  ...[before = [], unreadable]: readonly [before?: readonly DetectedCondition[], unreadable?: string]
): ReturnType<typeof judgeLog> {
  const input = { monitor, evidence, before, now: after(second) };
  return judgeLog(unreadable === undefined ? input : { ...input, unreadable });
}

function judged(monitor: LogMonitorConfig, evidence: readonly Evidence[], second: number): readonly string[] {
  return judge(monitor, evidence, second).conditions.map(
    ({ type, status, reason, message, since }) =>
      `${type} ${status} ${reason} ${message} ${since.slice(11, 19)}`,
  );
}

function statusAt(
  monitor: LogMonitorConfig,
  evidence: readonly Evidence[],
  type: string,
  seconds: readonly number[],
): readonly (string | undefined)[] {
  return seconds.map(
    (second) => judge(monitor, evidence, second).conditions.find((each) => each.type === type)?.status,
  );
}

function after(seconds: number): Date {
  return new Date(NOW.getTime() + seconds * 1000);
}
