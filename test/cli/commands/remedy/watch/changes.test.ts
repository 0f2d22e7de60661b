import { describe, expect, it } from 'vitest';
import { jobChangeLines, jobsChangeLines } from '../../../../../src/cli/commands/remedy/watch/changes.ts';
import { viewJob } from '../../../../../src/views/repair/job.ts';
import { ago } from '../../../../support/builders.ts';
import { JOB, JOB_STORIES, type JobStory, jobStory } from '../stories.ts';

const view = (story: JobStory) => viewJob(jobStory(story));

describe('jobChangeLines', () => {
  it('has everything that happened so far when nothing was shown before', () => {
    expect(jobChangeLines(undefined, view('a drain that a budget blocks'))).toEqual([
      `${JOB}: fault at ${ago(465)}: Kernel`,
      `${JOB}: detected at ${ago(320)}: rule kernel-hang matched`,
      `${JOB}: granted at ${ago(300)}: g-18841, for rung reboot`,
      `${JOB}: s1 CollectDiagnostics@v1 Failed: AgentSilent: no answer in 180 s`,
      `${JOB}: s2 Cordon@v1 Succeeded`,
      `${JOB}: s3 Drain@v1 Running (try 2)`,
      `${JOB}: waits: PodDisruptionBudget: shop/cart-0: disruptionsAllowed=0. Next: no action required once its pods may be evicted: check the budget that is named; a person is asked at ${ago(-782)}`,
      `${JOB}: Waiting`,
    ]);
  });

  it.each(JOB_STORIES)('has no line when nothing changed: %s', (story) => {
    expect(jobChangeLines(view(story), view(story))).toEqual([]);
  });

  it('has a line for each step that went on, and for the outcome', () => {
    const lines = jobChangeLines(view('a drain that a budget blocks'), view('a node that is healthy again'));
    expect(lines).toEqual([
      `${JOB}: acted at ${ago(70)}: 3 of 4 steps succeeded`,
      `${JOB}: verified at ${ago(10)}: its conditions held`,
      `${JOB}: settled at ${ago(8)}: Succeeded`,
      `${JOB}: s3 Drain@v1 Succeeded`,
      `${JOB}: s4 Reboot@v1 Succeeded`,
      `${JOB}: v1 Uncordon@v1 Succeeded`,
      `${JOB}: outcome Succeeded: Verified: healthy for 300 s`,
      `${JOB}: Succeeded`,
    ]);
  });
});

describe('jobsChangeLines', () => {
  it('has lines of the jobs that are new or changed only', () => {
    const same = viewJob(jobStory('a node that stays sick', 'same'));
    const before = [same, viewJob(jobStory('a renewal that is denied', 'changed'))];
    const after = [
      same,
      viewJob(jobStory('a drain that needs an approval', 'changed')),
      viewJob(jobStory('a new job', 'new')),
    ];
    const names = jobsChangeLines(before, after).map((line) => line.split(':')[0]);
    expect(new Set(names)).toEqual(new Set(['changed', 'new']));
  });
});
