import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import {
  claimClusters,
  promotedClusters,
  stageMembership,
} from '../../../../src/sync/promote/stage/membership.ts';
import { PromotionSimulation, stageOf } from '../simulation/simulation.ts';

describe('stageMembership', () => {
  const sim = new PromotionSimulation({ clusters: ['prod-1', 'test-1'] });
  const cluster = (name: string): Cluster => sim.cluster(name).object();
  const stages = [stageOf({ name: 'test' }), stageOf({ name: 'prod' })];
  const everything = stageOf({ name: 'all', clusterSelector: { all: true } });

  it('assigns a cluster to one stage, to none, or calls it contested', () => {
    expect(stageMembership(cluster('prod-1'), stages)).toEqual({ kind: 'Member', stage: 'prod' });
    expect(stageMembership(cluster('prod-1'), [])).toEqual({ kind: 'Unassigned' });
    expect(stageMembership(cluster('prod-1'), [...stages, everything])).toEqual({
      kind: 'Contested',
      stages: ['prod', 'all'],
    });
  });

  it('matches the environment of the spec, whatever the labels are', () => {
    const labelled = new PromotionSimulation({ clusters: [] });
    const object = labelled.addCluster('prod-1', { labels: { 'kubenode.dev/environment': 'test' } }).object();
    expect(stageMembership(object, stages)).toEqual({ kind: 'Member', stage: 'prod' });
  });

  it('lists the Pipelines that select a cluster, and the one that writes its status', () => {
    const pipeline = (name: string, own: typeof stages): typeof sim.pipeline => ({
      ...sim.pipeline,
      metadata: { name },
      spec: { ...sim.pipeline.spec, stages: own },
    });
    const claims = claimClusters(
      [cluster('prod-1'), cluster('test-1')],
      [pipeline('b', [everything]), pipeline('a', stages.slice(1))],
    );
    expect(claims.map(({ owner, selectedBy }) => [owner, selectedBy])).toEqual([
      ['a', ['a', 'b']],
      ['b', ['b']],
    ]);
    expect(claimClusters([cluster('test-1')], [pipeline('a', stages.slice(1))])).toMatchObject([
      { owner: 'a', selectedBy: [] },
    ]);
  });

  it('SAF-6 leaves a cluster to the Pipeline that holds it, whichever other Pipeline selects it', () => {
    const held = (pipeline: string): Cluster => ({
      ...cluster('prod-1'),
      status: { conditions: [], assigned: { pipeline, mode: 'Apply' } },
    });
    const declared = (pipeline: string): Cluster => {
      const { metadata, ...rest } = cluster('prod-1');
      const labels = { 'kubenode.dev/hub': 'h', 'kubenode.dev/unit': `${pipeline}.fleet` };
      return { metadata: { ...metadata, labels }, ...rest };
    };
    const both = [selecting('a', everything), selecting('b', everything)];
    expect(holders(held('b'), both)).toEqual([['b', 'b']]);
    expect(holders(declared('b'), both)).toEqual([['b', 'b']]);
    expect(holders(cluster('prod-1'), both)).toEqual([['a', undefined]]);
    // Given away: its own stages do not select the cluster any more, or it was deleted.
    expect(
      holders(held('b'), [selecting('a', everything), { ...pipelineFor('test'), metadata: { name: 'b' } }]),
    ).toEqual([['a', 'a']]);
    expect(holders(held('b'), [selecting('a', everything)])).toEqual([['a', 'a']]);
  });

  it('SAF-6 counts a cluster that no Pipeline selects to none', () => {
    const pipelines = [pipelineFor('test'), pipelineFor('pre')];
    const counts = pipelines.map(
      ({ metadata }) => promotedClusters(metadata.name, [cluster('prod-1')], pipelines).length,
    );
    expect(counts).toEqual([0, 0]);
  });

  it('counts as the clusters of a Pipeline those that it promotes, and of a restored hub those that it selects', () => {
    const moved = { pipeline: 'test', mode: 'Apply' } as const;
    const clusters = [
      cluster('prod-1'),
      { ...cluster('prod-1'), metadata: { name: 'moved' }, status: { conditions: [], assigned: moved } },
      cluster('test-1'),
    ];
    const names = (pipeline: string): string[] =>
      promotedClusters(pipeline, clusters, [pipelineFor('prod'), pipelineFor('test')]).map(
        ({ metadata }) => metadata.name,
      );
    expect([names('prod'), names('test')]).toEqual([['prod-1'], ['moved', 'test-1']]);
  });
});

function pipelineFor(stage: string): PromotionSimulation['pipeline'] {
  const { pipeline } = new PromotionSimulation();
  return {
    ...pipeline,
    metadata: { name: stage },
    spec: { ...pipeline.spec, stages: [stageOf({ name: stage })] },
  };
}

type Pipeline = PromotionSimulation['pipeline'];

function selecting(name: string, stage: Pipeline['spec']['stages'][number]): Pipeline {
  const { pipeline } = new PromotionSimulation();
  return { ...pipeline, metadata: { name }, spec: { ...pipeline.spec, stages: [stage] } };
}

function holders(cluster: Cluster, pipelines: Parameters<typeof claimClusters>[1]): unknown[] {
  return claimClusters([cluster], pipelines).map(({ owner, holder }) => [owner, holder]);
}
