/** What tests ask about a simulation. */
import { expect } from 'vitest';
import type { Release, ReleaseStage, SoakClock } from '../../../../src/api/generated/types.ts';
import { DAY, digestFor, type PromotionSimulation } from './simulation.ts';

/** `prod-001`, `prod-002`, … */
export function prodClusters(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `prod-${String(index + 1).padStart(3, '0')}`);
}

export function stageStatus(sim: PromotionSimulation, commit: string, name: string): ReleaseStage {
  const found = sim.release(commit).status?.stages?.find((each) => each.name === name);
  if (!found) throw new Error(`no stage ${name}`);
  return found;
}

export function prodStage(sim: PromotionSimulation, commit: string): ReleaseStage {
  return stageStatus(sim, commit, 'prod');
}

/** The states of the stages of a Release, in order. */
export function stageStates(sim: PromotionSimulation, commit: string): string {
  return (sim.release(commit).status?.stages ?? []).map(({ state }) => state).join(' ');
}

export function conditionStatus(release: Release, type: string): string | undefined {
  return release.status?.conditions.find((condition) => condition.type === type)?.status;
}

/** Clusters that a commit was written to, in the order of their first write. */
export function writtenClusters(sim: PromotionSimulation, commit: string): string[] {
  return [...new Set(sim.writes.filter((write) => write.commit === commit).map(({ cluster }) => cluster))];
}

/** Commits that were written to a cluster, in order. */
export function writtenCommits(sim: PromotionSimulation, name: string): string[] {
  return sim.writes.filter(({ cluster }) => cluster === name).map(({ commit }) => commit);
}

export function runningContent(sim: PromotionSimulation, name: string): string {
  const { applied, applying } = sim.cluster(name);
  return applying ? `moving to ${applying.digest}` : (applied?.digest ?? 'nothing');
}

export function soakClocks(sim: PromotionSimulation, name: string): readonly SoakClock[] {
  return sim.cluster(name).status?.sync?.soak?.clocks ?? [];
}

/** The most clusters that were busy at one time from now on, by their status. */
export function watchMaxBusy(sim: PromotionSimulation): () => number {
  let most = 0;
  const before = sim.onReconcile;
  sim.onReconcile = (plan) => {
    before(plan);
    const busy = [...sim.clusters.values()].filter(
      ({ status }) => status?.sync?.state === 'Applying' || status?.sync?.state === 'Soaking',
    );
    most = Math.max(most, busy.length);
  };
  return () => most;
}

/** Runs until the Release is finished, and expects all three stages to be proven. */
export function runUntilProven(sim: PromotionSimulation, commit: string): PromotionSimulation {
  sim.run(4 * DAY, () => sim.release(commit).status?.finishedAt !== undefined);
  expect(stageStates(sim, commit)).toBe('Proven Proven Proven');
  return sim;
}

/** A new toolchain: the same commits render to other content for every cluster. */
export function rerender(sim: PromotionSimulation): void {
  const renamed = sim.commits.map((commit) => ({
    ...commit,
    targets: new Map(
      [...(commit.targets ?? [])].map(([name, { digest, units }]) => {
        const content = { ...sim.contents.get(digest), label: 'new' };
        sim.contents.set(digestFor(content), content);
        return [name, { digest: digestFor(content), units: new Map([...units, ['label', 'new']]) }];
      }),
    ),
  }));
  sim.commits.splice(0, sim.commits.length, ...renamed);
}
