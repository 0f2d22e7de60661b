import { describe, expect, it } from 'vitest';
import type { Cluster, ClusterApplyReport, Pipeline } from '../../../../src/api/generated/types.ts';
import { createStore } from '../../../../src/kube/cache/store.ts';
import type { ClusterAssignment, WorkReport } from '../../../../src/sync/cluster-report.ts';
import { type Assignments, createAssignments } from '../../../../src/sync/hub/split-leases/assignments.ts';
import type { AssignedContent } from '../../../../src/sync/hub/split-leases/content-reader.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';
import { clusterOf, reportOf } from '../../promote/builders.ts';

const ASSIGNED = { pipeline: 'fleet', commit: 'c1', digest: 'a1', mode: 'Apply' } as const;
const WORK: WorkReport = {
  commit: 'c1',
  digest: 'a1',
  state: 'Applied',
  reason: 'Applied',
  message: 'every object matches git',
  objects: { total: 1, applied: 1, pruned: 0, failed: 0 },
  failures: [],
};

describe('createAssignments', () => {
  it('gives a cluster what the hub has recorded when another process promotes it', async () => {
    const { assignments, targets, asked } = bed({ holds: ['x'] });
    assignments.refresh();
    expect(targets.get('x')).toMatchObject({ mode: 'Apply', commit: 'c1', digest: 'a1', pipeline: 'fleet' });
    await targets.get('x')?.content('c1');
    expect(asked).toEqual([{ cluster: 'x', commit: 'c1', present: ['c0'] }]);
    // An earlier commit is read to compare with, and not applied: it may be older than what is there.
    await targets.get('x')?.content('c0');
    expect(asked.slice(1)).toEqual([{ cluster: 'x', commit: 'c0', present: [] }]);
  });

  it.each([
    ['promotion in this process sets the target', ['x', 'fleet'], { assigned: ASSIGNED }],
    ['another process applies to the cluster', [], { assigned: ASSIGNED }],
    ['nothing is recorded', ['x'], {}],
  ])('sets no target when %s', (_, holds, status) => {
    const { assignments, targets } = bed({ holds, status });
    assignments.refresh();
    expect([...targets.keys()]).toEqual([]);
  });

  it('S30 goes on when a pause ends, without a change in the hub', async () => {
    const until = '2030-01-01T00:01:00Z';
    const pauses = [{ name: 'p', by: 'anna', reason: 'ticket 7', object: 'ConfigMap/default/a', until }];
    const clock = virtualClock(new Date('2030-01-01T00:00:00Z'));
    const { assignments, targets } = bed({ holds: ['x'], pauses, clock });
    assignments.refreshCluster('x');
    expect([...(targets.get('x')?.pausedObjects?.keys() ?? [])]).toEqual(['ConfigMap/default/a']);
    await clock.advance(60_000);
    assignments.refreshCluster('x');
    expect(targets.get('x')?.pausedObjects).toBeUndefined();
    assignments.refreshCluster('not in the hub');
  });

  it('applies nothing by an outdated cache', async () => {
    const { assignments, targets, asked, record } = bed({ holds: ['x'] });
    assignments.refresh();
    record({ assigned: { ...ASSIGNED, commit: 'c2' } });
    expect(await targets.get('x')?.content('c1')).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('applies nothing more by the record once it promotes the Pipeline itself, or has lost the Lease', async () => {
    const { assignments, targets, asked, held } = bed({ holds: ['x'] });
    assignments.refresh();
    held.add('fleet');
    expect(await targets.get('x')?.content('c1')).toBeUndefined();
    held.clear();
    expect(await targets.get('x')?.content('c1')).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('reports what applying met to the process that promotes, once for each change', async () => {
    const { assignments, reports } = bed({ holds: ['x'] });
    assignments.writeReports();
    assignments.writeReports();
    await assignments.close();
    expect(reports).toMatchObject([{ holder: 'one', commit: 'c1', state: 'Applied' }]);
    assignments.writeReports();
    expect(reports).toHaveLength(1);
  });

  it('removes the report when it holds both Leases, and writes none without the Lease of the cluster', async () => {
    const { assignments, reports, held } = bed({ holds: ['x'] });
    assignments.writeReports();
    await settled();
    held.clear();
    assignments.writeReports();
    await settled();
    expect(reports).toHaveLength(1);
    held.add('x').add('fleet');
    assignments.writeReports();
    await settled();
    expect(reports).toEqual([expect.objectContaining({ holder: 'one' }), undefined]);
  });

  it('tells promotion what another process reports, and of its own clusters what it observes', () => {
    const report = { ...WORK, commit: 'c1', holder: 'two', state: 'Failed', reason: 'Invalid' } as const;
    const { assignments, held } = bed({ holds: ['fleet'], status: { assigned: ASSIGNED, report } });
    expect(assignments.report('x')?.work).toMatchObject({ state: 'Failed', reason: 'Invalid' });
    held.add('x');
    expect(assignments.report('x')?.work).toEqual(WORK);
  });
});

interface Bed {
  readonly assignments: Assignments;
  readonly targets: Map<string, ClusterAssignment>;
  readonly asked: AssignedContent[];
  /** In the order of writing. */
  readonly reports: (ClusterApplyReport | undefined)[];
  /** Names of the Cluster and of the Pipeline whose Leases this process holds. */
  readonly held: Set<string>;
  /** Changes the status of the Cluster in the API server; the cache is as fresh as the last read or write. */
  readonly record: (status: Partial<Cluster['status']>) => void;
}

interface BedOptions {
  readonly holds: readonly string[];
  readonly status?: Partial<Cluster['status']>;
  readonly pauses?: Cluster['spec']['pauses'];
  readonly clock?: VirtualClock;
}

function bed({
  holds,
  status = { assigned: ASSIGNED },
  pauses = [],
  clock = virtualClock(),
}: BedOptions): Bed {
  const log = memoryLog();
  let version = 1;
  let live = clusterAt(version, status);
  const clusters = createStore<Cluster>({ log });
  clusters.put({ ...live, spec: { ...live.spec, pauses } });
  const pipelines = createStore<Pipeline>({ log });
  pipelines.put({ metadata: { name: 'fleet' }, spec: { paused: false } } as Pipeline);
  const [held, targets] = [new Set(holds), new Map<string, ClusterAssignment>()];
  const [asked, reports]: [AssignedContent[], (ClusterApplyReport | undefined)[]] = [[], []];
  const parts = {
    hub: {
      stores: { clusters, pipelines },
      readCluster: async () => {
        clusters.put(live);
        return live;
      },
      applyClusterReport: async (_: string, report: ClusterApplyReport | undefined) => {
        reports.push(report);
        const { report: _before, ...rest } = live.status ?? { conditions: [] };
        record({ ...rest, ...(report ? { report } : {}) });
        clusters.put(live);
      },
    },
    clusters: {
      isHeld: (name: string) => held.has(name),
      holder: () => (held.has('x') ? 'one' : 'two'),
      report: () => reportOf({ work: WORK, commits: ['c0'] }),
      setTarget: (name: string, target: ClusterAssignment) => targets.set(name, target),
    },
    pipelines: {
      isHeld: (name: string) => held.has(name),
      get: () => ({
        assignedContent: async (content: AssignedContent) => {
          asked.push(content);
          return undefined;
        },
      }),
    },
  };
  const assignments = createAssignments({
    ...(parts as never as Parts),
    identity: 'one',
    clock,
    log,
    random: () => 0.5,
  });
  return {
    assignments,
    targets,
    asked,
    reports,
    held,
    record,
  };

  function record(next: Partial<Cluster['status']>): void {
    version += 1;
    live = clusterAt(version, next);
  }
}

type Parts = Pick<Parameters<typeof createAssignments>[0], 'hub' | 'clusters' | 'pipelines'>;

function clusterAt(version: number, status: Partial<Cluster['status']>): Cluster {
  const cluster = clusterOf();
  const metadata = { ...cluster.metadata, uid: 'x', resourceVersion: String(version) };
  return { ...cluster, metadata, status: { conditions: [], ...status } };
}

/** Lets pending writes end. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
