import { describe, expect, it } from 'vitest';
import {
  activePause,
  firstPauseEnd,
  pausedObjectName,
  pausedParts,
  pausedReason,
  pauseText,
} from '../../../src/api/status/pauses.ts';
import { planPromotion } from '../../../src/sync/promote/plan.ts';
import { NOW } from '../../rollout/builders.ts';
import { clusterOf } from '../../sync/promote/builders.ts';
import {
  prodClusters,
  prodStage,
  stageStatus,
  writtenClusters,
  writtenCommits,
} from '../../sync/promote/simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation } from '../../sync/promote/simulation/simulation.ts';

const { pipeline } = new PromotionSimulation();
const halt = { by: 'anna', reason: 'ticket 7', since: '2030-01-01T00:00:00Z' };

it.each([
  ['nothing', {}, undefined],
  ['git', { paused: true }, 'pipeline fleet is paused (spec.paused)'],
  [
    'a person, also against git',
    { paused: false, halt },
    'pipeline fleet was halted by anna: ticket 7. To continue, run: kubenode release resume fleet',
  ],
])('a Pipeline is stopped by %s', (_, spec, expected) => {
  expect(pausedReason({ ...pipeline, spec: { ...pipeline.spec, ...spec } })).toBe(expected);
});

describe('a Cluster is stopped by', () => {
  const pause = { name: 'p', by: 'anna', reason: 'ticket 7' };
  it.each([
    ['a pause without an end', pause, true],
    ['a pause that has not ended', { ...pause, until: new Date(+NOW + 1).toISOString() }, true],
    ['no pause that has ended', { ...pause, until: NOW.toISOString() }, false],
    ['no pause of one unit', { ...pause, unit: 'a' }, false],
    ['no pause of one object', { ...pause, object: 'ConfigMap/default/a' }, false],
  ])('%s', (_, found, expected) => {
    expect(activePause(clusterOf({ pauses: [found] }), NOW) !== undefined).toBe(expected);
  });
});

describe('units of a Cluster are paused by', () => {
  const pause = { name: 'p', by: 'anna', reason: 'ticket 7', since: '2030-01-01T00:00:00Z', unit: 'web' };
  const because =
    'to resume it, run kubenode release resume fleet --cluster test-1 --unit web; paused by anna since 2030-01-01T00:00:00Z: ticket 7';
  it.each([
    ['a pause of the unit', [pause], [['web', because]]],
    ['none that has ended', [{ ...pause, until: NOW.toISOString() }], undefined],
    ['none of the whole cluster', [{ name: 'p', by: 'anna', reason: 'ticket 7' }], undefined],
    ['none of an object', [{ name: 'p', by: 'anna', reason: 'x', object: 'ConfigMap/default/a' }], undefined],
  ])('%s', (_, pauses, expected) => {
    const cluster = { ...clusterOf({ pauses }), metadata: { name: 'test-1' } };
    const { pausedUnits } = pausedParts(cluster, 'fleet', NOW);
    expect(pausedUnits && [...pausedUnits]).toEqual(expected);
  });

  it('one that ends by itself is shown with its end', () => {
    const until = '2030-01-02T00:00:00Z';
    expect(pauseText({ ...pause, until })).toBe(
      'paused by anna since 2030-01-01T00:00:00Z until 2030-01-02T00:00:00Z: ticket 7',
    );
  });

  it('one without a time is shown without it', () => {
    expect(pauseText({ name: 'p', by: 'anna', reason: 'ticket 7' })).toBe('paused by anna: ticket 7');
  });
});

describe('objects of a Cluster are paused by', () => {
  const pause = { name: 'p', by: 'anna', reason: 'ticket 7', object: 'ConfigMap/default/a' };
  const because =
    'to resume it, run kubenode release resume fleet --cluster test-1 --object ConfigMap/default/a; paused by anna: ticket 7';
  it.each([
    ['a pause of the object', [pause], [['ConfigMap/default/a', because]]],
    [
      'a pause that names a unit, too, written before a server refused that',
      [{ ...pause, unit: 'web' }],
      [['ConfigMap/default/a', because]],
    ],
    ['none that has ended', [{ ...pause, until: NOW.toISOString() }], undefined],
    ['none of a unit', [{ name: 'p', by: 'anna', reason: 'x', unit: 'web' }], undefined],
  ])('%s', (_, pauses, expected) => {
    const cluster = { ...clusterOf({ pauses }), metadata: { name: 'test-1' } };
    const { pausedObjects } = pausedParts(cluster, 'fleet', NOW);
    expect(pausedObjects && [...pausedObjects]).toEqual(expected);
  });

  it.each([
    [{ kind: 'Deployment', namespace: 'shop', name: 'web' }, 'Deployment/shop/web'],
    [{ kind: 'ClusterRole', namespace: '', name: 'system:x' }, 'ClusterRole/system:x'],
  ])('the name of %o', (id, expected) => {
    expect(pausedObjectName(id)).toBe(expected);
  });
});

it('the first end of a pause is that of the active ones', () => {
  const pause = { name: 'p', by: 'anna', reason: 'ticket 7' };
  const pauses = [3000, 2000, -1000].map((ms) => ({ ...pause, until: new Date(+NOW + ms).toISOString() }));
  expect(firstPauseEnd(clusterOf({ pauses }), NOW)).toEqual(new Date(+NOW + 2000));
  expect(firstPauseEnd(clusterOf({ pauses: [pause] }), NOW)).toBeUndefined();
});

function withPausedUnit(): PromotionSimulation {
  const stages = [{ name: 'prod', soakSeconds: 60, maxConcurrentClusters: 1 }];
  const sim = new PromotionSimulation({ stages, clusters: prodClusters(2) });
  sim.cluster('prod-001').trouble = 'UnitPaused';
  sim.push('c1', { prod: { app: 'v1' } });
  sim.run(HOUR);
  return sim;
}

describe('while a commit changes a paused unit', () => {
  it('the cluster is Paused and its stage waits with that reason, but the other clusters go on', () => {
    const sim = withPausedUnit();
    const { sync } = sim.cluster('prod-001').status ?? {};
    expect(sync).toMatchObject({ state: 'Paused', message: 'unit app is paused' });
    expect(writtenClusters(sim, 'c1')).toEqual(['prod-001', 'prod-002']);
    expect(sim.cluster('prod-002').status?.sync?.state).toBe('Proven');
    const { state, waiting } = prodStage(sim, 'c1');
    expect([state, waiting?.reason]).toEqual(['Promoting', 'UnitPaused']);
    expect(waiting?.message).toBe('prod-001: unit app is paused');
  });

  it('the cluster goes on to the end of its soak once the unit is resumed', () => {
    const sim = withPausedUnit();
    sim.cluster('prod-001').trouble = 'None';
    sim.run(10 * MINUTE);
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Proven');
    expect(prodStage(sim, 'c1').state).toBe('Proven');
  });

  it('a newer commit may replace it', () => {
    const sim = withPausedUnit();
    sim.push('c2', { prod: { app: 'v2' } });
    sim.run(HOUR);
    expect(writtenCommits(sim, 'prod-002')).toEqual(['c1', 'c2']);
    expect(sim.cluster('prod-001').status?.sync?.state).toBe('Paused');
  });
});

it('S30 promotion runs again at the moment at which a pause ends', () => {
  const until = new Date(+NOW + 7000);
  const pause = { name: 'p', by: 'anna', reason: 'ticket 7', object: 'ConfigMap/default/a' };
  const requeueAt = (end: Date): Date | undefined => {
    const cluster = clusterOf({ pauses: [{ ...pause, until: end.toISOString() }] });
    const input = { pipeline, clusters: [{ cluster }], releases: [], commits: [], now: NOW };
    return planPromotion(input, { verdict: 'Accepted' }).requeueAt;
  };
  expect([requeueAt(until), requeueAt(NOW)]).toEqual([until, undefined]);
});

it('S30 a halted Pipeline writes nothing, whatever is pushed, until it is resumed', () => {
  const sim = new PromotionSimulation({ stages: [{ name: 'prod', soakSeconds: 60 }] });
  sim.push('c1', { '*': { app: 'v1' } });
  sim.run(10 * MINUTE);
  const { halt: _none, ...spec } = sim.pipeline.spec;
  sim.pipeline = { ...sim.pipeline, spec: { ...spec, halt } };
  sim.push('c2', { '*': { app: 'v2' } });
  sim.run(HOUR);
  expect(writtenCommits(sim, 'prod-1')).toEqual(['c1']);
  expect(stageStatus(sim, 'c2', 'prod').waiting?.message).toContain('halted by anna');
  sim.pipeline = { ...sim.pipeline, spec };
  sim.run(HOUR);
  expect(writtenCommits(sim, 'prod-1')).toEqual(['c1', 'c2']);
});
