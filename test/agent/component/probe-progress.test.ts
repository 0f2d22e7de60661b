import { describe, expect, it } from 'vitest';
import {
  applyAnswer,
  beginProbes,
  dueProbes,
  judge,
  nextProbeMs,
  type ProbesProgress,
  probationOf,
} from '../../../src/agent/component/probe-progress.ts';
import type { UnitStatus } from '../../../src/agent/host/port.ts';
import type { ComponentProbe } from '../../../src/api/generated/types.ts';
import { target } from '../../support/agent/targets.ts';

const PROBE: ComponentProbe = {
  name: 'web',
  tcp: { port: '80' },
  periodSeconds: 1,
  timeoutSeconds: 1,
  successThreshold: 2,
  failureThreshold: 2,
};
const TARGET = target('1.0', { probes: [PROBE] });
const RUNS: UnitStatus = { defined: true, enabled: true, masked: false, active: 'Active', restarts: 0 };

/** One answer a second: `+` is good, `-` bad. */
function after(answers: string, unit: Partial<UnitStatus> = {}): ReturnType<typeof probationOf> {
  let progress: ProbesProgress = beginProbes(0);
  answers.split('').forEach((each, index) => {
    const nowMs = (index + 1) * 1000;
    progress = applyAnswer(progress, PROBE, { passed: each === '+', detail: each }, nowMs);
    progress = judge(TARGET, progress, new Map([['proxy', { ...RUNS, ...unit }]]), nowMs);
  });
  return probationOf(TARGET, progress, 10_000);
}

/** After each count of restarts of its unit. */
function failureAfter(kept: ReadonlySet<string>, ...counts: readonly number[]): string | undefined {
  const progress = counts.reduce(
    (before, restarts) => judge(TARGET, before, new Map([['proxy', { ...RUNS, restarts }]]), 5),
    beginProbes(0, kept),
  );
  return probationOf(TARGET, progress, 10).failure?.code;
}

describe('AGT-20 the probes of a version', () => {
  it.each<[name: string, answers: string, expected: Partial<ReturnType<typeof probationOf>>]>([
    ['have not passed below the success threshold', '+', { pending: ['probe web: +'] }],
    ['pass from the success threshold on', '++', { passingMs: 8000, pending: [] }],
    ['need successes in a row', '+-+', { pending: ['probe web: +'] }],
    ['survive one bad answer', '++-', { passingMs: 8000, pending: [] }],
    ['never fail before they passed: a slow start', '-----', { pending: ['probe web: -'] }],
    [
      'fail at the failure threshold after they passed',
      '++--',
      { failure: { code: 'ProbeFailed', message: 'probe web failed: -' }, pending: ['probe web: -'] },
    ],
    ['pass again from a later time on', '++--+', { passingMs: 5000, pending: [] }],
  ])('%s', (_, answers, expected) => {
    expect(after(answers)).toEqual({ elapsedMs: 10_000, ...expected });
  });

  it.each<[name: string, unit: Partial<UnitStatus>, expected: string | undefined]>([
    [
      'that failed',
      { active: 'Failed', result: 'exit code 3' },
      'UnitFailed: unit proxy failed: exit code 3',
    ],
    ['that was started again', { restarts: 1 }, 'UnitRestarted: unit proxy ended and was started again'],
    ['that is being started', { active: 'Activating' }, undefined],
  ])('fail for a unit %s', (_, unit, expected) => {
    const { failure, passingMs } = after('+++', unit);
    expect(failure && `${failure.code}: ${failure.message}`).toBe(expected);
    expect(passingMs === undefined).toBe(unit.active !== undefined);
  });

  it('name how a unit ended that the host has started again since', () => {
    const ended = judge(
      TARGET,
      beginProbes(0),
      new Map([['proxy', { ...RUNS, active: 'Activating', result: 'exit code 3' } as const]]),
      5,
    );
    const restarted = judge(TARGET, ended, new Map([['proxy', { ...RUNS, restarts: 1 }]]), 6);
    expect(probationOf(TARGET, restarted, 10).failure?.message).toBe(
      'unit proxy ended and was started again: exit code 3',
    );
  });

  it('count restarts from now on for a unit that ran before, and from its start for another one', () => {
    const kept = new Set(['proxy']);
    expect(failureAfter(kept, 3, 3)).toBeUndefined();
    expect(failureAfter(kept, 3, 4)).toBe('UnitRestarted');
    expect(failureAfter(kept, 3, 0, 1)).toBe('UnitRestarted');
    expect(failureAfter(new Set(), 3)).toBe('UnitRestarted');
  });

  it('wait for a unit that is missing', () => {
    expect(judge(TARGET, beginProbes(0), new Map(), 5)).not.toHaveProperty('passingSinceMs');
  });

  it.each([
    [0, 1000],
    [10, 1000],
    [499, 1000],
    [500, 1000],
    [501, 2000],
    [999, 2000],
    [1000, 2000],
  ])('AGT-01 are due at whole periods: one of a second that ran at %d ms at %d', (ranMs, dueMs) => {
    const fresh = beginProbes(0);
    expect(dueProbes(TARGET, fresh, 0)).toEqual([PROBE]);
    const ran = applyAnswer(fresh, PROBE, { passed: true, detail: '' }, ranMs);
    expect(dueProbes(TARGET, ran, dueMs - 1)).toEqual([]);
    expect(dueProbes(TARGET, ran, dueMs)).toEqual([PROBE]);
    expect(nextProbeMs(TARGET, ran)).toBe(dueMs);
  });

  it('are never due without a probe', () => {
    expect(nextProbeMs(target('1.0'), beginProbes(0))).toBeUndefined();
  });
});
