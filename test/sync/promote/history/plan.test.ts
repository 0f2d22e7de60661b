import { describe, expect, it } from 'vitest';
import type { CommitRun } from '../../../../src/api/generated/types.ts';
import { runUntilProven } from '../simulation/queries.ts';
import { digestFor, HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

const STAGES = ['test', 'pre', 'prod'].map((name) => ({ name, soakSeconds: 60 }));

function simulation(): PromotionSimulation {
  const sim = new PromotionSimulation({ stages: STAGES });
  sim.push('c1', { '*': { app: 'v1' } });
  return runUntilProven(sim, 'c1');
}

function historyOf(sim: PromotionSimulation, cluster = 'test-1'): readonly CommitRun[] {
  return sim.cluster(cluster).status?.sync?.history ?? [];
}

/** Such as `c2 Failed (UpToDate)`, `c3 Proven as c1 *`; `*`: it runs. */
function shown(sim: PromotionSimulation, cluster = 'test-1'): string[] {
  return historyOf(sim, cluster).map(({ commit, state, sameContentAs, endedAt, adopted }) =>
    [
      commit,
      state,
      ...(sameContentAs ? [`as ${sameContentAs}`] : []),
      ...(adopted ? ['adopted'] : []),
      ...(endedAt ? [] : ['*']),
    ].join(' '),
  );
}

describe('the history of a cluster is what ran', () => {
  it('keeps the commit before a revert, with its own times, in every stage', () => {
    const sim = simulation();
    sim.push('c2', { '*': { app: 'v2' } });
    runUntilProven(sim, 'c2');
    sim.run(HOUR);
    sim.push('c3', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c3');
    const revertedAt = sim.now;
    sim.run(10 * MINUTE);
    for (const cluster of ['test-1', 'pre-1', 'prod-1']) {
      expect(shown(sim, cluster)).toEqual(['c3 Proven as c1 *', 'c2 Proven', 'c1 Proven']);
      const [revert, bump] = historyOf(sim, cluster);
      expect(revert?.startedAt).toBe(bump?.endedAt);
      expect(revertedAt - Date.parse(revert?.startedAt ?? '')).toBeLessThan(5 * MINUTE);
    }
    expect(historyOf(sim, 'prod-1')[0]).toMatchObject({ pipeline: 'fleet', stage: 'prod', subject: 'c3' });
  });

  it('keeps a failed commit after its revert, with the reason, and not where it never ran', () => {
    const sim = simulation();
    sim.push('c2', { '*': { app: 'bad2' } });
    sim.run(10 * MINUTE);
    expect(shown(sim)).toEqual(['c2 Failed *', 'c1 Proven']);
    sim.push('c3', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c3');
    expect(shown(sim)).toEqual(['c3 Proven as c1 *', 'c2 Failed', 'c1 Proven']);
    const { reason, message } = historyOf(sim)[1] ?? {};
    expect([reason, message]).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\w/)]);
    expect(shown(sim, 'prod-1')).toEqual(['c3 Proven as c1 *', 'c1 Proven']);
  });

  it('marks a commit that does not change the cluster, and does not merge it', () => {
    const sim = simulation();
    sim.push('c2', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c2');
    expect(shown(sim)).toEqual(['c2 Proven as c1 *', 'c1 Proven']);
  });

  it('shows how far a commit was that was replaced', () => {
    const sim = simulation();
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(45 * SECOND);
    sim.push('c3', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c3');
    expect(shown(sim)).toEqual(['c3 Proven as c1 *', 'c2 Soaking', 'c1 Proven']);
  });

  it('S39 has each commit once, and the time at which it began, wherever sync is killed', () => {
    const expected = ['c2 Proven *', 'c1 Proven'];
    for (let crashAt = 0; crashAt < 12; crashAt++) {
      const sim = simulation();
      sim.push('c2', { '*': { app: 'v2' } });
      sim.reconcile(crashAt);
      sim.restart();
      const begun = historyOf(sim).find(({ commit }) => commit === 'c2')?.startedAt;
      runUntilProven(sim, 'c2');
      expect(shown(sim)).toEqual(expected);
      const { startedAt } = historyOf(sim)[0] ?? {};
      expect(begun ?? startedAt).toBe(startedAt);
    }
  });

  it('S39 continues in a hub that was restored from a backup, and marks what it did not assign', () => {
    const sim = simulation();
    const { releases, clusters, pipeline } = structuredClone({
      releases: [...sim.releases],
      clusters: [...sim.clusters].map(([name, { status }]) => ({ name, status })),
      pipeline: sim.pipeline,
    });
    sim.push('c2', { '*': { app: 'v2' } });
    runUntilProven(sim, 'c2');
    sim.releases.clear();
    for (const [name, release] of releases) sim.releases.set(name, release);
    for (const { name, status } of clusters) sim.cluster(name).status = status;
    sim.pipeline = pipeline;
    sim.restart();
    runUntilProven(sim, 'c2');
    expect(shown(sim)).toEqual(['c2 Proven adopted *', 'c1 Proven']);
  });

  it('records the approval of a plan in the stage that needed it, and the acknowledgement of a failure', () => {
    const stages = STAGES.map((each) => ({ ...each, approval: 'Unexercised' as const }));
    const sim = new PromotionSimulation({ stages });
    sim.push('c1', { '*': { app: 'v1' } });
    runUntilProven(sim, 'c1');
    sim.push('c2', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    sim.run(HOUR);
    const approvals = [
      { stage: 'prod', planDigest: sim.release('c2').spec.plan.digest, reason: 'reviewed by anna' },
    ];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, approvals } };
    sim.push('c3', { '*': { app: 'v1' }, prod: { app: 'v2' } });
    runUntilProven(sim, 'c3');
    const decisions = ['approved for stage prod: reviewed by anna'];
    expect(historyOf(sim, 'prod-1')[0]).toMatchObject({ commit: 'c3', decisions });
    expect(historyOf(sim, 'test-1')[0]).not.toHaveProperty('decisions');

    sim.push('c4', { '*': { app: 'bad4' } });
    sim.run(10 * MINUTE);
    const acknowledgements = [
      { planDigest: digestFor({ app: 'bad4' }), unit: 'app', reason: 'the disk was full' },
    ];
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, acknowledgements } };
    sim.settle();
    expect(historyOf(sim)[0]).toMatchObject({
      commit: 'c4',
      decisions: ['failure acknowledged: the disk was full'],
    });
  });

  it('begins with the time of the record where an earlier version wrote no history', () => {
    const sim = simulation();
    const cluster = sim.cluster('test-1');
    const { history: _history, ...sync } = cluster.status?.sync ?? {};
    cluster.status = { conditions: [], sync };
    sim.run(HOUR);
    expect(shown(sim)).toEqual(['c1 Proven *']);
    expect(historyOf(sim)[0]?.startedAt).toBe(sync.since);
  });
});
