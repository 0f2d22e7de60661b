import { describe, expect, it } from 'vitest';
import { registerRolloutMetrics } from '../../../src/controllers/componentset/metrics.ts';
import { componentSetStatus } from '../../../src/controllers/componentset/status/status.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { ago, NOW } from '../../support/builders.ts';
import { BATCH, COMPLETED, grant, member, progressOf } from './rollout/rollout-input.ts';
import { denied, type ReportParts, reportOf, statusOf } from './status/set-report.ts';
import { DONE, FAILED, IN_WORK, SOAKED } from './status/situations.ts';

/** Lines of the metrics with that name after reports, one after the other. */
async function linesOf(name: string, ...reports: readonly ReportParts[]): Promise<readonly string[]> {
  const metrics = createMetrics();
  const rollout = registerRolloutMetrics(metrics);
  for (const parts of reports) {
    const report = reportOf(parts);
    rollout.observe(report, componentSetStatus(report));
  }
  const text = await metrics.text();
  return text.split('\n').filter((line) => line.startsWith(`kubenode_rollout_${name}`));
}

const WORK = { members: [member('a', IN_WORK), member('b', DONE), member('c')] };

describe('registerRolloutMetrics', () => {
  it('ROL-62 has the batch and the machines by state', async () => {
    expect(await linesOf('batch', WORK)).toEqual(['kubenode_rollout_batch{set="general"} 1']);
    const machines = await linesOf('machines', WORK);
    expect(machines).toContain('kubenode_rollout_machines{set="general",state="updated"} 1');
    expect(machines).toContain('kubenode_rollout_machines{set="general",state="inProgress"} 1');
  });

  it('ROL-62 has the time that machines waited, by reason', async () => {
    const first = { members: [member('a'), member('b'), member('c')], denials: [denied('a'), denied('b')] };
    const later = { ...first, now: new Date(+NOW + 30_000) };
    expect(await linesOf('blocked_seconds_total', first, later)).toContain(
      'kubenode_rollout_blocked_seconds_total{set="general",reason="NoGrant"} 60',
    );
  });

  it('ROL-62 has the time to settle of each machine that succeeded', async () => {
    const settled = { ...DONE, holdsGrant: true, grant: grant({ issuedAt: ago(90) }) } as const;
    const lines = await linesOf('settle_seconds', { members: [member('a', settled)] });
    expect(lines).toContain('kubenode_rollout_settle_seconds_sum{set="general"} 90');
    expect(await linesOf('settle_seconds_sum', WORK)).toEqual([]);
  });

  it('ROL-62 counts a rollback once', async () => {
    const failed = { members: [member('a', FAILED), member('b', DONE), member('c')] };
    const after = reportOf(failed).plan.progress;
    const before = statusOf(failed);
    const rollbacks = ['kubenode_rollout_rollbacks_total{set="general"} 1'];
    expect(await linesOf('rollbacks_total', failed)).toEqual(rollbacks);
    const backward = { ...failed, progress: after, before };
    expect(await linesOf('rollbacks_total', failed, backward)).toEqual(rollbacks);
    // All machines are back: its record has an end now.
    const members = ['a', 'b', 'c'].map((name) => member(name));
    const ended = { members, progress: after, before: statusOf(backward) };
    expect(statusOf(ended).history?.[0]).toMatchObject({
      result: 'RolledBack',
      finishedAt: NOW.toISOString(),
    });
    expect(ended.before.history?.[0]).not.toHaveProperty('finishedAt');
    expect(await linesOf('rollbacks_total', failed, backward, ended)).toEqual(rollbacks);
  });

  it('ROL-62 counts a rollback whose record replaces that of an older one', async () => {
    const old = Array.from({ length: 9 }, (_, index) => {
      return { revision: `r-bad-${index}`, result: 'RolledBack' } as const;
    });
    const history = [...old, COMPLETED];
    const members = [member('a', FAILED), member('b', DONE), member('c')];
    const failed = { members, progress: progressOf({ history }), before: { history } };
    expect(await linesOf('rollbacks_total', failed)).toEqual([
      'kubenode_rollout_rollbacks_total{set="general"} 1',
    ]);
  });

  it('ROL-62 counts each gate by its result', async () => {
    const members = [member('a', DONE), member('b', DONE), member('c')];
    const soaking = { members, progress: progressOf({ batch: { ...BATCH, soakUntil: new Date(ago(-9)) } }) };
    const before = statusOf(soaking);
    const passed = { members, progress: progressOf({ batch: SOAKED }), before };
    expect(await linesOf('gates_total', passed)).toEqual([
      'kubenode_rollout_gates_total{set="general",result="Passed"} 1',
    ]);
    const gate = { state: 'Inconclusive', check: 'errors', because: 'no answer' } as const;
    expect(await linesOf('gates_total', { ...passed, gate })).toEqual([
      'kubenode_rollout_gates_total{set="general",result="Inconclusive"} 1',
    ]);
    expect(await linesOf('gates_total', { ...soaking, before })).toEqual([]);
  });

  it('forgets a set that was deleted', async () => {
    const metrics = createMetrics();
    const rollout = registerRolloutMetrics(metrics);
    const report = reportOf(WORK);
    rollout.observe(report, componentSetStatus(report));
    rollout.forget('general');
    expect(await metrics.text()).not.toContain('kubenode_rollout_machines{');
  });
});
