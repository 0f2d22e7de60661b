import { expect, it } from 'vitest';
import { type RolloutState, rolloutOutcome } from '../../../src/views/rollout/outcome.ts';
import { STORIES, type Story } from '../../cli/commands/rollout/stories.ts';

it.each<[Story, RolloutState]>([
  ['a batch in work', 'Running'],
  ['a soak', 'Running'],
  ['an approval', 'NeedsPerson'],
  ['a pause', 'NeedsPerson'],
  ['a dry run', 'NeedsPerson'],
  ['a denied grant', 'Running'],
  ['a spent failure budget', 'Failed'],
  ['a rollback in work', 'Running'],
  ['a rollback that ended', 'Failed'],
  ['its end', 'Completed'],
  ['machines that are behind since its end', 'Completed'],
  ['a set without machines', 'Running'],
  ['the soak of its last batch', 'Running'],
  ['a rollback that stalls', 'Failed'],
  ['an end of the spec before', 'Running'],
  ['a conflict', 'Failed'],
  ['a conflict beside work', 'Running'],
  ['no status', 'Running'],
])('rolloutOutcome of %s is %s', (story, state) => {
  expect(rolloutOutcome(STORIES[story]).state).toBe(state);
});

it('names the machines that are behind since a rollout completed', () => {
  expect(rolloutOutcome(STORIES['machines that are behind since its end'])).toEqual({
    state: 'Completed',
    because:
      'kubelet 1.31.4, node-exporter 1.8.2 completed before; now 0 of 3 machines run kubelet 1.31.4; m-01: the agent is silent; also not: m-02, m-03',
    isBehind: true,
  });
});

it('names the process that is missing when the set is not observed', () => {
  expect(rolloutOutcome(STORIES['no status']).because).toContain('kubenode controllers');
});
