import { describe, expect, it } from 'vitest';
import { registerComponentMetrics } from '../../../src/controllers/componentset/component-metrics.ts';
import { componentSetStatus } from '../../../src/controllers/componentset/status/status.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { ago, NOW } from '../../support/builders.ts';
import { BATCH, COMPLETED, member, progressOf } from './rollout/rollout-input.ts';
import { type ReportParts, reportOf, statusOf } from './status/set-report.ts';
import { DONE, FAILED, IN_WORK, SOAKED, STEADY } from './status/situations.ts';

/** Returns what is counted of component app after reports, one after the other: `Started 1`. */
async function counted(...reports: readonly ReportParts[]): Promise<readonly string[]> {
  const text = await metricsAfter(reports);
  const lines = text.matchAll(
    /^kubenode_component_rollouts_total\{component="app",event="(?<event>\w+)"\} (?<count>\d+)$/gm,
  );
  return [...lines].flatMap(({ groups }) =>
    groups?.['count'] === '0' ? [] : `${groups?.['event']} ${groups?.['count']}`,
  );
}

async function metricsAfter(reports: readonly ReportParts[]): Promise<string> {
  const metrics = createMetrics();
  const components = registerComponentMetrics(metrics);
  for (const parts of reports) {
    const report = reportOf(parts);
    components.observe(report, componentSetStatus(report));
  }
  return await metrics.text();
}

const WORK = { members: [member('a', IN_WORK), member('b', DONE), member('c')] };
const STARTED = statusOf(WORK);

describe('registerComponentMetrics', () => {
  it('DAT-04 begins each component of a set at zero', async () => {
    const text = await metricsAfter([{ ...WORK, before: STARTED }]);
    expect(text).toContain('kubenode_component_rollouts_total{component="app",event="RolledBack"} 0');
    expect(text).toContain('kubenode_component_rollback_seconds_count{component="app"} 0');
  });

  it('DAT-04 counts the start of a rollout and of each batch, once', async () => {
    const progress = progressOf({ startedAt: new Date(ago(600)) });
    const fresh = { ...WORK, progress, before: { updateRevision: 'r-old', history: [COMPLETED] } };
    expect(await counted(fresh)).toEqual(['Started 1', 'BatchStarted 1']);
    expect(await counted({ ...WORK, before: STARTED })).toEqual([]);
    const next = { ...WORK, progress: progressOf({ batch: { ...BATCH, index: 2, startedAt: NOW } }) };
    expect(await counted({ ...next, before: STARTED }, { ...next, before: statusOf(next) })).toEqual([
      'BatchStarted 1',
    ]);
  });

  it('DAT-04 counts a pause of a rollout, and none of a set that rolls nothing out', async () => {
    const paused = { ...WORK, paused: true, before: STARTED };
    expect(await counted(paused)).toEqual(['Paused 1']);
    const progress = { ...progressOf({ pausedAt: new Date(ago(5)) }) };
    expect(await counted({ ...paused, progress, before: statusOf(paused) })).toEqual([]);
    const steady = { members: [member('a', DONE)], progress: STEADY };
    expect(await counted({ ...steady, paused: true, before: statusOf(steady) })).toEqual([]);
  });

  it('DAT-04 counts a rollout that completes, also one back to an older revision', async () => {
    const done = { members: [member('a', DONE), member('b', DONE)], progress: progressOf({ batch: SOAKED }) };
    expect(statusOf(done).history?.[0]).toMatchObject({ result: 'Completed' });
    const finished = statusOf(done);
    expect(await counted({ ...done, before: STARTED })).toEqual(['Completed 1']);
    expect(await counted({ ...done, progress: STEADY, before: finished })).toEqual([]);
    const older = { ...finished, history: [COMPLETED, ...(finished.history ?? [])] };
    expect(await counted({ ...done, progress: STEADY, before: older })).toContain('Completed 1');
  });

  it('DAT-04 counts a rollout that stops for a person', async () => {
    const stopped = {
      members: [member('a', FAILED), member('b', DONE), member('c')],
      rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } },
    } as const;
    expect(await counted({ ...stopped, before: STARTED })).toEqual(['Stopped 1']);
    expect(await counted({ ...stopped, before: statusOf(stopped) })).toEqual([]);
  });

  it('DAT-04 counts a rollback once, and how long it takes', async () => {
    const failed = { members: [member('a', FAILED), member('b', DONE), member('c')], before: STARTED };
    const progress = reportOf(failed).plan.progress;
    const backward = { ...failed, progress, before: statusOf(failed) };
    const now = new Date(+NOW + 90_000);
    const members = ['a', 'b', 'c'].map((name) => member(name));
    const ended = { members, progress, before: statusOf(backward), now };
    expect(statusOf(ended).history?.[0]).toMatchObject({ finishedAt: now.toISOString() });
    expect(await counted(failed, backward, ended)).toEqual(['RolledBack 1']);
    const text = await metricsAfter([failed, backward, ended]);
    expect(text).toContain('kubenode_component_rollback_seconds_sum{component="app"} 90');
    // This process did not see the failure, so it does not know when that was.
    const later = await metricsAfter([ended]);
    expect(later).toContain('kubenode_component_rollback_seconds_count{component="app"} 0');
  });
});
