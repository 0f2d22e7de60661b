import { describe, expect, it } from 'vitest';
import { checkResults, gatesFinding } from '../../../../src/controllers/componentset/status/gates.ts';
import { ago } from '../../../support/builders.ts';
import { askingCheck, BATCH, COMPLETED, member, NEW, progressOf } from '../rollout/rollout-input.ts';
import { reportOf } from './set-report.ts';
import { DONE, IN_WORK, SOAKED } from './situations.ts';

const CHECKS = ['errors', 'latency', 'health'].map((name) => ({
  name,
  builtin: {},
  intervalSeconds: 30,
  failureLimit: 0,
  inconclusiveLimit: 3,
  consecutiveSuccess: 1,
}));
const GATE = { soakSeconds: 300, checks: CHECKS, approval: 'None' } as const;

describe('gatesFinding', () => {
  it('ROL-21 keeps the gate of the batch before while the next one is in work', () => {
    const report = reportOf({ members: [member('a', IN_WORK), member('b')] });
    expect(gatesFinding(report)).toMatchObject({ status: 'True', message: 'the gate of batch 1 has passed' });
  });

  it('ROL-21 has passed all gates in the reconcile in which the rollout completes', () => {
    const progress = progressOf({ batch: { ...SOAKED, size: 1 }, history: [] });
    const report = reportOf({ members: [member('a', DONE)], progress, gate: { state: 'Open' } });
    expect(report.plan).toMatchObject({ mode: 'Forward', limit: { reason: 'AllDone' } });
    expect(gatesFinding(report)).toMatchObject({ status: 'True', message: 'app 2 completed' });
  });

  it('ROL-21 never passes a check without a result', () => {
    const because = 'check errors: no answer';
    const report = reportOf({
      members: [member('a', DONE), member('b')],
      progress: progressOf({ batch: { ...SOAKED, size: 1 } }),
      gate: { state: 'Inconclusive', check: 'errors', because },
    });
    expect(gatesFinding(report)).toMatchObject({
      status: 'Unknown',
      reason: 'GateInconclusive',
      message: because,
    });
  });

  it('ROL-30 keeps a gate that failed after the rollout has stopped', () => {
    const stopped = { reason: 'GateFailed', because: 'check errors: 7 is above 1' };
    const progress = progressOf({ batch: BATCH, stopped, history: [] });
    const report = reportOf({ members: [member('a', DONE), member('b')], progress });
    expect(gatesFinding(report)).toMatchObject({ status: 'False', reason: 'GateFailed' });
  });

  it('ROL-33 needs no gate for a revert', () => {
    const history = [
      { revision: 'r-bad', result: 'RolledBack' },
      { ...COMPLETED, revision: NEW.name },
    ] as const;
    const report = reportOf({ members: [member('a')], progress: progressOf({ history }) });
    expect(report.plan.mode).toBe('Revert');
    expect(gatesFinding(report)).toMatchObject({ status: 'True', reason: 'AsWanted' });
  });
});

describe('checkResults', () => {
  const asked = [
    askingCheck('errors'),
    askingCheck('ratio', { promql: { query: 'a{n=~"${rest}"}', max: 2 } }),
  ];
  const gates = [
    {
      name: 'errors',
      result: 'Unknown',
      consecutive: 1,
      inconclusive: 1,
      ranAt: ago(5),
      message: 'no answer',
    },
  ] as const;
  const soaking = progressOf({ batch: { ...BATCH, size: 1, soakUntil: new Date(ago(-60)), gates } });

  it('ROL-22 shows what checks of its own found, and names in the condition the one that did not pass', () => {
    const report = reportOf({
      members: [member('a', DONE), member('b')],
      progress: soaking,
      rollout: { gate: { ...GATE, checks: asked } },
    });
    expect(checkResults(report)).toEqual([
      { name: 'errors', result: 'Inconclusive', value: 'no answer', since: ago(5) },
      { name: 'ratio', result: 'Pending' },
    ]);
    expect(gatesFinding(report).message).toMatch(
      /^batch 2 soaks until .*; check errors: no answer \(runs without a result: 1, allowed: 3\)$/,
    );
  });

  it('ROL-22 shows that a comparison is skipped where no machine is left to compare with', () => {
    const members = [member('a', DONE), member('b', { ...DONE, batch: 0 })];
    const report = reportOf({ members, progress: soaking, rollout: { gate: { ...GATE, checks: asked } } });
    expect(checkResults(report)[1]).toEqual({
      name: 'ratio',
      result: 'Skipped',
      value: 'no machine is left to compare with',
    });
  });

  it('ROL-22 still shows what a check found after it stopped the rollout', () => {
    const failed = { ...gates[0], result: 'Failed', failures: 1, message: '7 is above 1' } as const;
    const stopping = progressOf({
      batch: { ...BATCH, size: 1, soakUntil: new Date(ago(-60)), gates: [failed] },
    });
    const failure = { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } as const;
    const parts = {
      members: [member('a', DONE), member('b')],
      rollout: { gate: { ...GATE, checks: asked }, failure },
    };
    const first = reportOf({ ...parts, progress: stopping });
    const next = reportOf({ ...parts, progress: first.plan.progress });
    for (const report of [first, next]) {
      expect(checkResults(report)[0]).toMatchObject({ result: 'Fail', value: '7 is above 1' });
      expect(gatesFinding(report)).toMatchObject({
        status: 'False',
        reason: 'GateFailed',
        message: 'check errors: 7 is above 1',
      });
    }
  });

  it('shows each check of the gate, and since when it has that result', () => {
    const runs = [
      { name: 'errors', result: 'Failed', ranAt: ago(5), message: '7 is above 1' },
      { name: 'latency', result: 'Unknown', ranAt: ago(5), message: 'no answer' },
    ] as const;
    const before = { checks: [{ name: 'errors', result: 'Fail', since: ago(90) }] } as const;
    expect(checkResults(reportOf({ members: [], runs, before, rollout: { gate: GATE } }))).toEqual([
      { name: 'errors', result: 'Fail', value: '7 is above 1', since: ago(90) },
      { name: 'latency', result: 'Inconclusive', value: 'no answer', since: ago(5) },
      { name: 'health', result: 'Pending' },
    ]);
  });
});
