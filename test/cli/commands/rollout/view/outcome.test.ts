import { expect, it } from 'vitest';
import { type RolloutState, rolloutOutcome } from '../../../../../src/cli/commands/rollout/view/outcome.ts';
import { STORIES, type Story } from '../stories.ts';

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
  ['the soak of its last batch', 'Running'],
  ['a rollback that stalls', 'Failed'],
  ['an end of the spec before', 'Running'],
  ['a conflict', 'Failed'],
  ['a conflict beside work', 'Running'],
  ['no status', 'Running'],
])('rolloutOutcome of %s is %s', (story, state) => {
  expect(rolloutOutcome(STORIES[story]).state).toBe(state);
});

it('names the process that is missing when the set is not observed', () => {
  expect(rolloutOutcome(STORIES['no status']).because).toContain('kubenode controllers');
});
