import { describe, expect, it } from 'vitest';
import { type JobState, viewJob } from '../../../src/views/repair/job.ts';
import { type JobStory, jobStory } from '../../cli/commands/remedy/stories.ts';
import { ago } from '../../support/builders.ts';

describe('viewJob', () => {
  it.each<[JobStory, JobState]>([
    ['a new job', 'Running'],
    ['a drain that a budget blocks', 'Running'],
    ['a drain that needs an approval', 'NeedsPerson'],
    ['a node that is healthy again', 'Succeeded'],
    ['a node that stays sick', 'Failed'],
  ])('takes %s for %s', (story, state) => {
    expect(viewJob(jobStory(story)).state).toBe(state);
  });

  it('takes cancelled and superseded jobs for ended', () => {
    for (const phase of ['Cancelled', 'Superseded'] as const) {
      expect(viewJob({ ...jobStory('a new job'), status: { phase, conditions: [] } }).state).toBe('Ended');
    }
  });

  it.each<[JobStory, string]>([
    [
      'a drain that a budget blocks',
      `no action required once its pods may be evicted: check the budget that is named; a person is asked at ${ago(-782)}`,
    ],
    [
      'a drain that needs an approval',
      'kubenode defender approve node-a17 --reason TEXT, or kubenode defender refuse node-a17 --reason TEXT',
    ],
    [
      'a renewal that is denied',
      'kubenode why machine node-a17 lists what is in the way; the job asks again by itself',
    ],
  ])('R29 names what ends the wait of %s', (story, unblock) => {
    expect(viewJob(jobStory(story)).unblock).toBe(unblock);
  });

  it('names the machine whose agent carries the step out', () => {
    const waiting = { reason: 'Agent', since: '2030-01-01T00:00:00Z' };
    const status = { phase: 'Running', conditions: [], waiting } as const;
    expect(viewJob({ ...jobStory('a new job'), status }).unblock).toBe(
      'no action required while its agent answers: kubenode machine show node-a17',
    );
  });

  it('keeps the wait of a job that was handed to a person until its case is closed', () => {
    const waiting = { reason: 'NeedsPerson', since: ago(60), message: 'the fault is still there' };
    const { status } = jobStory('a node that stays sick');
    const view = viewJob({ ...jobStory('a new job'), status: { conditions: [], ...status, waiting } });
    expect(view).toMatchObject({ state: 'Failed', waiting });
    expect(view.unblock).toMatch(/^repair the machine: /);
  });

  it('has no wait after its end, although one was reported', () => {
    const { status } = jobStory('a drain that a budget blocks');
    const ended = {
      ...jobStory('a new job'),
      status: { conditions: [], ...status, phase: 'Failed' as const },
    };
    expect(viewJob(ended)).toMatchObject({ state: 'Failed', unblock: '' });
    expect(viewJob(ended).waiting).toBeUndefined();
  });

  it('has the steps that follow the verification after those of the plan', () => {
    const { steps, timeline } = viewJob(jobStory('a node that is healthy again'));
    expect(steps.map(({ id, state }) => `${id} ${state}`)).toEqual([
      's1 Failed',
      's2 Succeeded',
      's3 Succeeded',
      's4 Succeeded',
      'v1 Succeeded',
    ]);
    expect(timeline.find(({ what }) => what === 'acted')?.because).toBe('3 of 4 steps succeeded');
  });

  it('counts a step that was undone at the end as one that succeeded', () => {
    const story = jobStory('a node that is healthy again');
    const steps = story.status?.steps?.map((step) =>
      step.id === 's2' ? { ...step, state: 'Undone' as const } : step,
    );
    const { timeline } = viewJob({
      ...story,
      status: { conditions: [], ...story.status, ...(steps && { steps }) },
    });
    expect(timeline.find(({ what }) => what === 'acted')?.because).toBe('3 of 4 steps succeeded');
  });

  it('describes the facts of the decision', () => {
    expect(viewJob(jobStory('a new job')).evidence).toEqual([
      'condition FrequentTaskHung: status True, observedSeconds 141',
    ]);
  });
});
