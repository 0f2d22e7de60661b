import { describe, expect, it } from 'vitest';
import type {
  Cluster,
  ClusterApplyReport,
  CorrectedDrift,
  Pipeline,
} from '../../../../src/api/generated/types.ts';
import type { WorkReport } from '../../../../src/sync/cluster-report.ts';
import { withCorrection } from '../../../../src/sync/drift-history.ts';
import {
  applyReport,
  recordedTarget,
  withApplyReport,
} from '../../../../src/sync/hub/split-leases/report.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { correctionAt } from '../../drift-builders.ts';
import { clusterOf, reportOf } from '../../promote/builders.ts';

const ASSIGNED = { pipeline: 'fleet', commit: 'c1', digest: 'a1', mode: 'Apply' } as const;
const RUNNING = { metadata: { name: 'fleet' }, spec: { paused: false } } as Pipeline;
const PAUSED = { metadata: { name: 'fleet' }, spec: { paused: true } } as Pipeline;
const HALT = { name: 'release-halt', by: 'anna', reason: 'ticket 7' };
const HALTED = {
  metadata: { name: 'fleet' },
  spec: { paused: false, halt: { ...HALT, since: '2030-01-01T00:00:00Z' } },
} as unknown as Pipeline;
const OBJECTS = { total: 2, applied: 1, pruned: 0, failed: 1 };
const FAILURE = { object: 'v1/ConfigMap/default/a', reason: 'Invalid', message: 'unknown field' };
const FAILED: WorkReport = {
  commit: 'c1',
  digest: 'a1',
  state: 'Failed',
  reason: 'Invalid',
  message: 'unknown field',
  objects: OBJECTS,
  failures: [FAILURE],
};
const REPORT: ClusterApplyReport = { holder: 'two', ...FAILED, commit: 'c1' };

function assigned(more: Partial<Cluster['status']> = {}, spec: Partial<Cluster['spec']> = {}): Cluster {
  return { ...clusterOf(spec), status: { conditions: [], assigned: ASSIGNED, ...more } };
}

describe('recordedTarget', () => {
  it.each([
    ['what promotion recorded', assigned(), RUNNING, 'Apply'],
    [
      'Observe while promotion holds it',
      assigned({ assigned: { ...ASSIGNED, mode: 'Observe' } }),
      RUNNING,
      'Observe',
    ],
    ['Observe once a person has paused the Pipeline', assigned(), PAUSED, 'Observe'],
    ['Observe once a person has paused the Cluster', assigned({}, { paused: true }), RUNNING, 'Observe'],
    ['Observe once a person has halted the Pipeline', assigned(), HALTED, 'Observe'],
    ['Observe once a person has halted the Cluster', assigned({}, { pauses: [HALT] }), RUNNING, 'Observe'],
    ['Observe when the Pipeline was deleted', assigned(), undefined, 'Observe'],
  ])('is %s', (_, cluster, pipeline, mode) => {
    const target = { pipeline: 'fleet', commit: 'c1', digest: 'a1', mode };
    expect(recordedTarget(cluster, pipeline, NOW)).toMatchObject(target);
  });

  it('S24 is a rollback once promotion has recorded its content', () => {
    const rollback = {
      commit: 'c1',
      digest: 'a1',
      by: 'anna',
      reason: 'ticket 7',
      since: '2030-01-01T00:00:00Z',
    };
    expect(recordedTarget(assigned({}, { rollback }), RUNNING, NOW)?.isRollback).toBe(true);
    const other = { ...rollback, digest: 'a0' };
    expect(recordedTarget(assigned({}, { rollback: other }), RUNNING, NOW)).not.toHaveProperty('isRollback');
    expect(recordedTarget(assigned(), RUNNING, NOW)).not.toHaveProperty('isRollback');
  });

  it.each<[what: string, since: string | undefined, endedSince: string | undefined, mode: string]>([
    ['while it is in force', '2030-01-01T00:00:00Z', undefined, 'Apply'],
    ['once a person has ended it', undefined, undefined, 'Observe'],
    ['once git has caught up with it', '2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z', 'Observe'],
    ['while another one after it is in force', '2030-01-02T00:00:00Z', '2030-01-01T00:00:00Z', 'Apply'],
  ])('S24 writes a recorded rollback only as a rollback: %s', (_, since, endedSince, mode) => {
    const order = { commit: 'c1', digest: 'a1', by: 'anna', reason: 'ticket 7' };
    const end = endedSince && { since: endedSince, endedAt: endedSince, commit: 'c2' };
    const cluster = assigned(
      { assigned: { ...ASSIGNED, rollback: true }, sync: { ...(end && { rollbackEnd: end }) } },
      { ...(since !== undefined && { rollback: { ...order, since } }) },
    );
    expect(recordedTarget(cluster, RUNNING, NOW)).toMatchObject({ mode, isRollback: true });
  });

  it('leaves out what a person has paused since then, and only that unit', () => {
    const cluster = assigned({}, { pauses: [{ ...HALT, unit: 'web' }] });
    const { mode, pausedUnits } = recordedTarget(cluster, RUNNING, NOW) ?? {};
    expect([mode, [...(pausedUnits?.keys() ?? [])]]).toEqual(['Apply', ['web']]);
  });

  it('leaves out an object that a person has paused since then, until the pause ends', () => {
    const until = new Date(+NOW + 1000).toISOString();
    const cluster = assigned({}, { pauses: [{ ...HALT, object: 'ConfigMap/default/a', until }] });
    const { mode, pausedObjects } = recordedTarget(cluster, RUNNING, NOW) ?? {};
    expect([mode, [...(pausedObjects?.keys() ?? [])]]).toEqual(['Apply', ['ConfigMap/default/a']]);
    expect(recordedTarget(cluster, RUNNING, new Date(until))?.pausedObjects).toBeUndefined();
  });

  it('S13 tells that the content was proven before, so that a revert passes the order of units', () => {
    const cluster = assigned({ assigned: { ...ASSIGNED, provenBefore: true } });
    expect(recordedTarget(cluster, RUNNING, NOW)?.provenBefore).toBe(true);
    expect(recordedTarget(assigned(), RUNNING, NOW)?.provenBefore).toBeUndefined();
  });

  it('is nothing before promotion has recorded anything', () => {
    expect(recordedTarget(clusterOf(), RUNNING, NOW)).toBeUndefined();
  });
});

describe('applyReport', () => {
  it('reports nothing before the cluster was compared with a commit', () => {
    expect(applyReport(clusterOf(), 'two', {}, NOW)).toBeUndefined();
  });

  it('names the process, the commit and what failed', () => {
    expect(applyReport(clusterOf(), 'two', { work: FAILED }, NOW)).toEqual(REPORT);
  });

  it('reports drift that was corrected at once, and the next in a minute', () => {
    const first = withCorrection(undefined, correctionAt(-30));
    const second = withCorrection(first, correctionAt(0, 'ConfigMap default/b'));
    const reportWith = (drift: CorrectedDrift, now: Date): unknown => {
      const cluster = { ...clusterOf(), status: { conditions: [], report: { ...REPORT, drift: first } } };
      return applyReport(cluster, 'two', { work: FAILED, drift }, now)?.drift;
    };
    expect(applyReport(clusterOf(), 'two', { work: FAILED, drift: first }, NOW)?.drift).toEqual(first);
    expect(reportWith(second, NOW)).toEqual(first);
    expect(reportWith(second, later(30))).toEqual(second);
  });

  it('cuts what is longer than a status may be', () => {
    const failures = Array.from({ length: 30 }, () => ({
      ...FAILURE,
      object: 'o'.repeat(400),
      message: 'm'.repeat(400),
    }));
    const report = applyReport(
      clusterOf(),
      'two',
      { work: { ...FAILED, message: 'm'.repeat(400), failures } },
      NOW,
    );
    expect(report).toMatchObject({ message: `${'m'.repeat(255)}…` });
    expect(report?.failures).toHaveLength(20);
    expect(report?.failures?.[0]).toMatchObject({
      object: `${'o'.repeat(319)}…`,
      message: `${'m'.repeat(255)}…`,
    });
  });
});

describe('withApplyReport', () => {
  const observed = {
    ...FAILED,
    state: 'Applying',
    reason: 'NotWritten',
    message: '1 objects differ',
    failures: [],
  } as const;
  const own = reportOf({
    work: observed,
    commits: ['c1'],
    synced: { status: 'False', reason: 'NotWritten', message: '' },
  });

  it('takes failures from the process that applies, and keeps what was observed here', () => {
    const report = withApplyReport(own, assigned({ report: REPORT }), 'two');
    expect(report).toEqual({
      ...own,
      work: FAILED,
      synced: { status: 'False', reason: 'Invalid', message: 'unknown field' },
    });
  });

  it('counts as in sync what only an apply can tell from a change', () => {
    const applied = { ...REPORT, state: 'Applied', reason: 'Applied' } as const;
    expect(withApplyReport(own, assigned({ report: applied }), 'two').synced.status).toBe('True');
  });

  it('S24 lists the revisions of the process that applies, and not its own', () => {
    const kept = [{ commit: 'c1', digest: 'a1', keptAt: '2030-01-01T00:00:00Z' }];
    const ours = reportOf({ revisions: [] });
    const cluster = assigned({ report: { ...REPORT, revisions: kept } });
    expect(withApplyReport(ours, cluster, 'two').revisions).toEqual(kept);
    expect(withApplyReport(ours, assigned(), 'two')).not.toHaveProperty('revisions');
    const sent = applyReport(assigned(), 'two', { work: FAILED, revisions: kept }, NOW);
    expect(sent?.revisions).toEqual(kept);
  });

  it('keeps what a process corrected, even after it has lost the Lease', () => {
    const drift = withCorrection(undefined, correctionAt(-30));
    const cluster = assigned({ report: { ...REPORT, drift } });
    for (const holder of ['two', 'three']) {
      expect(withApplyReport(own, cluster, holder).drift).toEqual(drift);
    }
  });

  it.each<[string, Partial<ClusterApplyReport> | undefined, string | undefined]>([
    ['there is none', undefined, 'two'],
    ['its process has lost the Lease', {}, 'three'],
    ['nobody holds the Lease', {}, undefined],
    ['it is about an earlier commit', { commit: 'c0' }, 'two'],
    ['it is about other content', { digest: 'a0' }, 'two'],
  ])('believes only its own observation when %s', (_, change, holder) => {
    const cluster = assigned(change ? { report: { ...REPORT, ...change } } : {});
    expect(withApplyReport(own, cluster, holder)).toEqual(own);
  });

  it('never calls a cluster in sync that it cannot observe', () => {
    const applied = { ...REPORT, state: 'Applied', reason: 'Applied' } as const;
    const cluster = assigned({ report: applied });
    const stale = { ...own, synced: { status: 'Unknown', reason: 'Stale', message: 'no contact' } } as const;
    expect(withApplyReport(stale, cluster, 'two').synced).toEqual(stale.synced);
    const unreachable = { ...own, reachable: false };
    expect(withApplyReport(unreachable, cluster, 'two')).toEqual(unreachable);
  });
});
