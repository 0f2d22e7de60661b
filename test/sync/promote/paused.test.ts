import { describe, expect, it } from 'vitest';
import { activePause, pausedReason } from '../../../src/sync/promote/paused.ts';
import { NOW } from '../../rollout/builders.ts';
import { clusterOf } from './builders.ts';
import { stageStatus, writtenCommits } from './simulation/queries.ts';
import { HOUR, MINUTE, PromotionSimulation } from './simulation/simulation.ts';

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
  ])('%s', (_, found, expected) => {
    expect(activePause(clusterOf({ pauses: [found] }), NOW) !== undefined).toBe(expected);
  });
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
