import { describe, expect, it } from 'vitest';
import type { RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';
import {
  progressFromStatus,
  progressStatus,
} from '../../../../src/controllers/componentset/status/progress.ts';
import { ago } from '../../../support/builders.ts';
import { ROLLOUT } from '../component-set.ts';
import { askingCheck, BATCH, COMPLETED, member, NEW, OLD, progressOf } from '../rollout/rollout-input.ts';
import { reportOf, statusOf } from './set-report.ts';

describe('progressFromStatus', () => {
  it('ROL-10 reads back after a crash all that the rollout remembers', () => {
    const soaking = { ...BATCH, soakUntil: new Date(ago(-60)) };
    const unknown = { ...BATCH, inconclusive: 2, inconclusiveAt: new Date(ago(30)) };
    const gate = {
      name: 'errors',
      asked: 'abc',
      ranAt: ago(5),
      result: 'Passed',
      consecutive: 2,
      failures: 1,
    } as const;
    const checked = {
      ...soaking,
      settledAt: new Date(ago(240)),
      gates: [{ ...gate, inconclusive: 1, message: '0' }],
    };
    for (const batch of [BATCH, soaking, unknown, checked]) {
      const rollout = { gate: { ...ROLLOUT.gate, checks: [askingCheck('errors', { failureLimit: 1 })] } };
      const members = [member('a', { at: NEW, batch: 1 }), member('b', { at: NEW, batch: 1 })];
      const parts = { members, progress: progressOf({ batch }), rollout };
      const { plan } = reportOf(parts);
      const stored = JSON.parse(JSON.stringify(statusOf(parts))) as ReturnType<typeof statusOf>;
      expect(progressFromStatus(stored)).toEqual(plan.progress);
    }
  });

  it.each<Partial<RolloutProgress>>([
    { pausedAt: new Date(ago(500)) },
    { commit: 'c-1' },
    { stopped: { reason: 'FailureBudgetSpent', because: 'machines failed: 1, allowed: 0', retryToken: 'x' } },
  ])('ROL-34 reads back a pause, a commit and a stop: %o', (more) => {
    const parts = {
      members: [member('a')],
      progress: progressOf(more),
      retryToken: 'x',
      paused: 'pausedAt' in more,
    };
    expect(progressFromStatus(statusOf(parts))).toEqual(reportOf(parts).plan.progress);
    expect(progressFromStatus(statusOf(parts))).toMatchObject(more);
  });

  it('S36 reads back the windows and freezes that judge the set', () => {
    const night = { name: 'night', start: '22:00', end: '04:00', timeZone: 'UTC' };
    const sale = { name: 'sale', from: ago(100), until: ago(-100), reason: 'sale' };
    const parts = { members: [member('a')], rollout: { windows: [night], freezes: [sale] } };
    const stored = progressFromStatus(statusOf(parts));
    expect(stored).toEqual(reportOf(parts).plan.progress);
    expect(stored.closedTimes).toMatchObject({ windows: [night], freezes: [sale] });
  });

  it('is empty for a set without a status', () => {
    expect(progressFromStatus(undefined)).toEqual({ history: [] });
  });

  it.each([{ index: 1 }, { index: 1, size: 2 }, { size: 2, startedAt: ago(1) }])(
    'has no batch where it is not complete: %o',
    (batch) => expect(progressFromStatus({ conditions: [], batch })).toEqual({ history: [] }),
  );
});

describe('progressStatus', () => {
  it('has the last revision that completed as the current one', () => {
    const history = [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] as const;
    expect(progressStatus(progressOf({ history }))).toEqual({
      currentRevision: OLD.name,
      updateRevision: NEW.name,
      history,
    });
  });
});
