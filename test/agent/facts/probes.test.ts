import { describe, expect, it } from 'vitest';
import { followBlocked, judgeHealth, judgeRuntime, reportProbes } from '../../../src/agent/facts/probes.ts';
import type { HostHealth } from '../../../src/agent/host/port.ts';
import { NOW } from '../../support/virtual-clock.ts';

const BLOCKED = new Map([['7-100-3', 0]]);

describe('probes of the host', () => {
  it.each<[string, HostHealth, number, object]>([
    ['nothing that is not known', {}, 0, {}],
    ['no pressure and no blocked task', { blockedTasks: [] }, 0, { 'hung-tasks': true }],
    [
      'a task that is blocked for less than two minutes',
      { blockedTasks: ['7-100-3'] },
      119_999,
      { 'hung-tasks': true },
    ],
    ['a task that hangs', { blockedTasks: ['7-100-3'] }, 120_000, { 'hung-tasks': false }],
    [
      'pressure below its limit',
      { pressure: { memory: 49.9, io: 0 } },
      0,
      { 'memory-pressure': true, 'io-pressure': true },
    ],
    [
      'pressure on one of them',
      { pressure: { memory: 50, io: 49 } },
      0,
      { 'memory-pressure': false, 'io-pressure': true },
    ],
  ])('judge %s', (_, health, nowMs, expected) => {
    const blocked = health.blockedTasks?.length ? BLOCKED : new Map();
    expect(judgeHealth(health, blocked, nowMs)).toEqual(expected);
  });

  it('begin again with a task that has run, and forget one that ended', () => {
    expect([...followBlocked(BLOCKED, ['7-100-4', '8-200-1'], 500)]).toEqual([
      ['7-100-4', 500],
      ['8-200-1', 500],
    ]);
    expect([...followBlocked(BLOCKED, ['7-100-3'], 500)]).toEqual([['7-100-3', 0]]);
    expect([...followBlocked(BLOCKED, [], 500)]).toEqual([]);
  });

  it.each([
    [0, { runtime: true }],
    [1, { runtime: false }],
    [undefined, { runtime: false }],
    [127, {}],
  ])('judge a client of the runtime that ends with %s', (exitCode, expected) => {
    expect(judgeRuntime(exitCode === undefined ? {} : { exitCode })).toEqual(expected);
  });

  it('are reported with the time of the first test with this result', () => {
    const first = reportProbes({ runtime: true, 'hung-tasks': true }, [], NOW);
    const later = new Date(NOW.getTime() + 30_000);
    const second = reportProbes({ runtime: false, 'hung-tasks': true }, first, later);
    expect(second).toEqual([
      { name: 'hung-tasks', result: 'Pass', at: NOW.toISOString() },
      { name: 'runtime', result: 'Fail', at: later.toISOString() },
    ]);
    expect(reportProbes({ runtime: false }, second, NOW)).toEqual([second[1]]);
  });
});
