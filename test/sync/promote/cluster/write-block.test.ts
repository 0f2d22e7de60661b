import { describe, expect, it } from 'vitest';
import { writeBlock } from '../../../../src/sync/promote/cluster/write-block.ts';
import type { ClusterSnapshot } from '../../../../src/sync/promote/snapshot.ts';
import { later } from '../../../rollout/builders.ts';
import { clusterOf, contextOf, reportOf } from '../builders.ts';
import { prodClusters, writtenClusters } from '../simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

describe('writeBlock', () => {
  const PAUSE = { name: 'disks', by: 'ada', reason: 'maintenance' };
  const UNKNOWN = { report: reportOf({ commits: ['unknown'] }) };

  it.each<[name: string, snapshot: Partial<ClusterSnapshot>, expected: string | undefined]>([
    ['nothing', {}, undefined],
    [
      'a second Pipeline, while neither holds the cluster',
      { otherPipeline: { name: 'other', holds: false } },
      'Blocked ClusterContested',
    ],
    [
      'a second Pipeline that holds the cluster',
      { otherPipeline: { name: 'other', holds: true } },
      'Blocked ClusterContested',
    ],
    ['spec.paused', { cluster: clusterOf({ paused: true }) }, 'Paused Paused'],
    ['a pause without an end', { cluster: clusterOf({ pauses: [PAUSE] }) }, 'Paused Paused'],
    [
      'a pause that has ended',
      { cluster: clusterOf({ pauses: [{ ...PAUSE, until: later(-1).toISOString() }] }) },
      undefined,
    ],
    ['a pause of one unit', { cluster: clusterOf({ pauses: [{ ...PAUSE, unit: 'web' }] }) }, undefined],
    ['another cluster', { report: reportOf({ identity: 'Mismatch' }) }, 'Blocked IdentityMismatch'],
    [
      'a damaged inventory',
      { report: reportOf({ failure: { reason: 'InventoryDamaged', message: 'damaged' } }) },
      'Blocked InventoryDamaged',
    ],
    ['another failure', { report: reportOf({ failure: { reason: 'Forbidden', message: 'no' } }) }, undefined],
    ['a Cluster that git removed', { isRemoved: true }, 'Removed RemovedFromGit'],
    [
      'a Cluster of which another one is registered',
      { shared: { kind: 'Duplicate', of: 'y', uid: 'u' } },
      'Blocked ClusterDuplicate',
    ],
    ['an unknown commit', UNKNOWN, 'Blocked CommitUnknown'],
    ['an unknown and an accepted commit', { report: reportOf({ commits: ['unknown', 'c1'] }) }, undefined],
    [
      'an unknown commit of a recorded cluster',
      { ...UNKNOWN, cluster: clusterOf({}, { commit: 'c1' }) },
      undefined,
    ],
    [
      'a pause before a mismatch',
      { cluster: clusterOf({ paused: true }), report: reportOf({ identity: 'Mismatch' }) },
      'Paused Paused',
    ],
  ])('finds for %s: %s', (_, snapshot, expected) => {
    const block = writeBlock({ cluster: clusterOf(), report: reportOf(), ...snapshot }, contextOf());
    expect(block && `${block.state} ${block.reason}`).toBe(expected);
  });

  it('S39 keeps what is not in the history of the accepted head, whatever the hub has recorded', () => {
    const unaccepted = new Map([['c3', 'c2 does not descend from the applied commit c3']]);
    const context = contextOf({ unaccepted });
    const recorded = { cluster: clusterOf({}, { commit: 'c1' }) };
    const report = reportOf({ commits: ['c1', 'c3'] });
    expect(writeBlock({ ...recorded, report }, context)).toEqual({
      state: 'Blocked',
      reason: 'CommitUnknown',
      because: 'nothing is written to x: c2 does not descend from the applied commit c3',
      blocker: { kind: 'Cluster', name: 'x' },
    });
    expect(writeBlock({ ...recorded, report: reportOf({ commits: ['c1'] }) }, context)).toBeUndefined();
  });

  it('SAF-6 names the Pipeline that holds the cluster', () => {
    const otherPipeline = { name: 'other', holds: true };
    expect(writeBlock({ cluster: clusterOf(), otherPipeline }, contextOf())?.because).toBe(
      'Pipeline other holds x and keeps it: exclude x in the clusterSelector of this Pipeline. To take it over, first exclude it in the stages of Pipeline other',
    );
  });

  it('names both stages of a contested cluster', () => {
    const membership = { kind: 'Contested', stages: ['test', 'prod'] } as const;
    expect(writeBlock({ cluster: clusterOf() }, contextOf({ membership }))?.because).toBe(
      'x is selected by stage test and stage prod: change its labels or a clusterSelector',
    );
  });

  it('ends with the pause', () => {
    const until = later(60);
    const cluster = clusterOf({ pauses: [{ ...PAUSE, until: until.toISOString() }] });
    expect(writeBlock({ cluster }, contextOf())?.until).toEqual(until);
  });

  it('accepts an unknown commit once a person accepted the head', () => {
    expect(
      writeBlock({ cluster: clusterOf(), ...UNKNOWN }, contextOf({ isHeadAccepted: true })),
    ).toBeUndefined();
    expect(
      writeBlock({ cluster: clusterOf(), ...UNKNOWN }, contextOf({ isHeadAccepted: false })),
    ).toBeDefined();
  });
});

describe('the blocks of a cluster', () => {
  it('only observes a paused cluster, in any state', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    for (const seconds of [5, 40, 120]) {
      sim.run(seconds * SECOND);
      sim.cluster('prod-001').paused = true;
      sim.settle();
      expect(sim.cluster('prod-001').target?.mode).toBe('Observe');
      sim.cluster('prod-001').paused = false;
      sim.settle();
      expect(sim.cluster('prod-001').target?.mode).toBe('Apply');
    }
  });

  it('holds a cluster of two stages, and proves neither stage', () => {
    const both = { all: false, matchLabels: { 'kubenode.dev/environment': 'prod' } };
    const sim = new PromotionSimulation({
      stages: [{ name: 'pre', clusterSelector: both }, { name: 'prod' }],
      clusters: prodClusters(1),
    });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').status?.sync).toMatchObject({
      state: 'Held',
      message: expect.stringContaining('stage pre and stage prod') as string,
    });
    expect(sim.writes).toEqual([]);
    expect(sim.pipeline.status?.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'ClusterContested',
    });
  });

  it('writes nothing to another cluster behind the same kubeconfig', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: prodClusters(1) });
    sim.cluster('prod-001').identity = 'Mismatch';
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(HOUR);
    expect(sim.cluster('prod-001').target?.mode).toBe('Observe');
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Held');
  });

  it('applies the newest commit after a pause, not the one that was replaced meanwhile', () => {
    const sim = new PromotionSimulation({ stages: [{ name: 'prod' }], clusters: prodClusters(1) });
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(10 * MINUTE);
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(5 * SECOND);
    sim.cluster('prod-001').paused = true;
    sim.settle();
    sim.push('c3', { prod: { app: 'v3' } });
    sim.run(10 * MINUTE);
    sim.cluster('prod-001').paused = false;
    sim.run(10 * MINUTE);
    expect(sim.writes.map(({ commit }) => commit)).toEqual(['c1', 'c2', 'c3']);
  });
});

describe('S39 holds a cluster that runs an unknown commit when the hub has no record of it', () => {
  it('holds a cluster with an unknown commit in a new hub until a person accepts the head', () => {
    const sim = new PromotionSimulation({
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: ['prod-1'],
    });
    sim.cluster('prod-1').inventory.add('unknown');
    sim.push('c1', { prod: { app: 'v1' } });
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').status?.sync?.state).toBe('Held');
    expect(sim.writes).toEqual([]);
    const source = { ...sim.pipeline.spec.source, acceptHead: 'c1' };
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, source } };
    sim.run(MINUTE);
    expect(writtenClusters(sim, 'c1')).toEqual(['prod-1']);
  });
});
