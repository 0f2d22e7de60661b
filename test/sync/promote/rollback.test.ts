import { describe, expect, it } from 'vitest';
import type { ClusterRollback } from '../../../src/api/generated/types.ts';
import { rollbackReason } from '../../../src/sync/promote/rollback.ts';
import { clusterOf, memberOf } from './builders.ts';
import { MINUTE, PromotionSimulation, SECOND } from './simulation/simulation.ts';

const STAGES = [
  { name: 'test', soakSeconds: 0 },
  { name: 'prod', soakSeconds: 0, maxFailedClusters: 0 },
];
const TO_GOOD: ClusterRollback = {
  commit: 'good',
  digest: 'app=v1',
  by: 'anna',
  reason: 'ticket 7',
  since: '2030-01-01T00:00:00.000Z',
};

/** Both stages run `bad`, and ran `good` before. */
function afterBad(): PromotionSimulation {
  const sim = new PromotionSimulation({ stages: STAGES, clusters: ['test-1', 'prod-1', 'prod-2'] });
  sim.push('good', { '*': { app: 'v1' } });
  sim.run(MINUTE);
  sim.push('bad', { '*': { app: 'v2' } });
  sim.run(MINUTE);
  return sim;
}

function digestIn(sim: PromotionSimulation, cluster: string): string | undefined {
  return sim.cluster(cluster).applied?.digest;
}

function rolledBack(rollback = TO_GOOD): PromotionSimulation {
  const sim = afterBad();
  sim.cluster('prod-1').rollback = rollback;
  sim.run(MINUTE);
  return sim;
}

describe('S24 a cluster that a person rolled back', () => {
  it('returns to the revision and stays there, and no other cluster changes', () => {
    const sim = rolledBack();
    const { target, status } = sim.cluster('prod-1');
    expect(digestIn(sim, 'prod-1')).toBe('app=v1');
    expect(target).toMatchObject({ mode: 'Apply', isRollback: true });
    expect(status?.sync).toMatchObject({ state: 'Held', commit: 'good', renderedDigest: 'app=v1' });
    expect(status?.sync?.message).toBe(
      'rolled back to good by anna since 2030-01-01T00:00:00.000Z: ticket 7; it keeps that until git has the same content for it, or until: kubenode rollback prod-1 --end',
    );
    expect(digestIn(sim, 'prod-2')).toBe('app=v2');
    expect(sim.cluster('prod-2').target?.isRollback).toBeUndefined();
  });

  it('is written once: the newer commit in its inventory is not adopted again', () => {
    const sim = afterBad();
    const { inventory } = sim.cluster('prod-1');
    sim.cluster('prod-1').rollback = TO_GOOD;
    sim.run(5 * SECOND);
    inventory.add('bad');
    sim.run(10 * MINUTE);
    const own = sim.writes.filter(({ cluster }) => cluster === 'prod-1').map(({ commit }) => commit);
    expect(own).toEqual(['good', 'bad', 'good']);
    const runs = sim.cluster('prod-1').status?.sync?.history?.map(({ commit }) => commit);
    expect(runs).toEqual(['good', 'bad', 'good']);
  });

  it('counts as failed, so that its stage stops, and a fix still reaches the others only when it ends', () => {
    const sim = rolledBack();
    sim.push('fix', { '*': { app: 'v3' } });
    sim.run(MINUTE);
    expect(digestIn(sim, 'prod-1')).toBe('app=v1');
    const [, prod] = sim.release('fix').status?.stages ?? [];
    expect([prod?.state, prod?.waiting?.reason]).toEqual(['Failed', 'FailureBudgetSpent']);
    expect(sim.release('fix').status?.failedClusters?.[0]).toMatchObject({
      name: 'prod-1',
      reason: 'RolledBack',
    });
    sim.cluster('prod-1').rollback = undefined;
    sim.run(2 * MINUTE);
    expect(['prod-1', 'prod-2'].map((name) => digestIn(sim, name))).toEqual(['app=v3', 'app=v3']);
  });

  it('follows git again without a write once the stage has a commit with that content', () => {
    const sim = rolledBack();
    const before = sim.writes.filter(({ cluster }) => cluster === 'prod-1').length;
    sim.push('revert', { '*': { app: 'v1' } });
    sim.run(2 * MINUTE);
    const { status } = sim.cluster('prod-1');
    expect(status?.sync).toMatchObject({
      state: 'Proven',
      commit: 'revert',
      rollbackEnd: { since: TO_GOOD.since, commit: 'revert' },
    });
    expect(sim.writes.filter(({ cluster }) => cluster === 'prod-1')).toHaveLength(before);
    sim.push('next', { '*': { app: 'v4' } });
    sim.run(2 * MINUTE);
    expect(digestIn(sim, 'prod-1')).toBe('app=v4');
  });

  it('can be rolled back again after an earlier rollback ended', () => {
    const sim = rolledBack();
    sim.push('revert', { '*': { app: 'v1' } });
    sim.run(2 * MINUTE);
    sim.cluster('prod-1').rollback = {
      ...TO_GOOD,
      digest: 'app=v2',
      commit: 'bad',
      since: '2030-02-01T00:00:00Z',
    };
    sim.run(MINUTE);
    expect(digestIn(sim, 'prod-1')).toBe('app=v2');
  });

  it('is not written while it is paused or its pipeline is halted', () => {
    const sim = afterBad();
    sim.cluster('prod-1').paused = true;
    sim.cluster('prod-1').rollback = TO_GOOD;
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').target?.mode).toBe('Observe');
    expect(sim.cluster('prod-1').status?.sync).toMatchObject({ commit: 'bad', state: 'Paused' });
    sim.cluster('prod-1').paused = false;
    sim.run(MINUTE);
    expect(digestIn(sim, 'prod-1')).toBe('app=v1');
  });

  it('is not written while it does not answer', () => {
    const sim = afterBad();
    sim.cluster('prod-1').reachable = false;
    sim.cluster('prod-1').rollback = TO_GOOD;
    sim.run(MINUTE);
    expect(sim.cluster('prod-1').target?.mode).toBe('Observe');
    sim.cluster('prod-1').reachable = true;
    sim.run(MINUTE);
    expect(digestIn(sim, 'prod-1')).toBe('app=v1');
  });

  it('has not returned before that is recorded, although its stage has the same content by chance', () => {
    const cluster = clusterOf({ rollback: TO_GOOD });
    const recordedAt = (renderedDigest: string): string | undefined =>
      rollbackReason(memberOf({ snapshot: { cluster }, recorded: { renderedDigest } }), 'app=v1')?.reason;
    expect(recordedAt('app=v2')).toBe('RolledBack');
    expect(recordedAt('app=v1')).toBeUndefined();
  });

  it('soaks content that was never proven here, and shows what fails', () => {
    const sim = afterBad();
    const cluster = sim.cluster('prod-1');
    const revisions = [{ commit: 'other', digest: 'app=other', keptAt: TO_GOOD.since }];
    cluster.status = { conditions: [], sync: { ...cluster.status?.sync, revisions } };
    cluster.rollback = { ...TO_GOOD, digest: 'app=other', commit: 'other' };
    sim.cluster('prod-1').trouble = 'Permanent';
    sim.run(MINUTE);
    const { sync } = sim.cluster('prod-1').status ?? {};
    expect(sync).toMatchObject({ state: 'Held', renderedDigest: 'app=other' });
    expect(sync?.message).not.toContain('it keeps that');
  });

  it.each([
    ['a commit that never ran there', { commit: 'unsigned', digest: 'app=evil' }],
    ['other content of a commit that ran there', { digest: 'app=evil' }],
    ['another commit with content that ran there', { commit: 'unsigned' }],
  ])('is not written when a person with access to Clusters names %s', (_, named) => {
    const sim = afterBad();
    sim.cluster('prod-1').rollback = { ...TO_GOOD, ...named };
    sim.run(2 * MINUTE);
    const { target, status } = sim.cluster('prod-1');
    expect(digestIn(sim, 'prod-1')).toBe('app=v2');
    expect(target).toMatchObject({ mode: 'Observe', commit: 'bad', digest: 'app=v2' });
    expect(status?.sync).toMatchObject({ state: 'Held', commit: 'bad' });
    expect(status?.sync?.message).toContain('nothing is written: it never ran that commit with content');
    expect(status?.sync?.message).toContain('kubenode rollback prod-1 --end');
    sim.cluster('prod-1').rollback = undefined;
    sim.push('fix', { '*': { app: 'v3' } });
    sim.run(2 * MINUTE);
    expect(digestIn(sim, 'prod-1')).toBe('app=v3');
  });

  it('continues after a process that was killed at any write', () => {
    for (let crashAt = 0; crashAt < 12; crashAt += 1) {
      const sim = afterBad();
      sim.cluster('prod-1').rollback = TO_GOOD;
      sim.reconcile(crashAt);
      sim.restart();
      sim.run(2 * MINUTE);
      expect(digestIn(sim, 'prod-1')).toBe('app=v1');
      expect(sim.cluster('prod-1').status?.sync).toMatchObject({ state: 'Held', commit: 'good' });
    }
  });
});
